//! Error messages.

use super::{Parser, Result};
use crate::chunkname::chunkid;
use crate::error::{ErrorKind, SyntaxError};
use crate::lexer::{Near, Token};
use crate::span::Span;
use crate::watch::ABORTED;

impl<'a> Parser<'_, 'a> {
    /// Returns the error `text` with the position and the current token.
    pub(super) fn error(&self, text: &str) -> Box<SyntaxError> {
        let near = self.token_text();
        self.positioned(text, near.as_deref(), self.span, self.token == Token::Eof)
    }

    /// Returns the error `text` with the position only, for errors that do not concern the current
    /// token.
    pub(super) fn semantic_error(&self, text: &str) -> Box<SyntaxError> {
        self.positioned(text, None, self.span, false)
    }

    /// Returns the error `text` alone: PUC raises it from C code, where there is no current line.
    pub(super) fn bare_error(&self, text: String) -> Box<SyntaxError> {
        self.without_position(text, ErrorKind::Runtime)
    }

    /// Returns the error for a watch that has ended the work.
    pub(super) fn aborted(&self) -> Box<SyntaxError> {
        self.without_position(ABORTED.to_owned(), ErrorKind::Aborted)
    }

    fn without_position(&self, text: String, kind: ErrorKind) -> Box<SyntaxError> {
        let message = text.into_bytes();
        let (line, span) = (self.line(), self.span);
        Box::new(SyntaxError { message, line, span, incomplete: false, kind })
    }

    pub(super) fn expected(&self, token: &Token) -> Box<SyntaxError> {
        self.error(&format!("{} expected", token.description()))
    }

    pub(super) fn unmatched(&self, close: &Token, opening: &Token, line: u32) -> Box<SyntaxError> {
        if line == self.line() {
            return self.expected(close);
        }
        self.error(&format!(
            "{} expected (to close {} at line {line})",
            close.description(),
            opening.description()
        ))
    }

    /// Fails if `value` exceeds `limit` in the function that starts at `line_defined`.
    pub(super) fn check_limit(
        &self,
        value: usize,
        limit: usize,
        what: &str,
        line_defined: u32,
    ) -> Result<()> {
        if value <= limit {
            return Ok(());
        }
        let place = match line_defined {
            0 => "main function".to_owned(),
            line => format!("function at line {line}"),
        };
        Err(self.error(&format!("too many {what} (limit is {limit}) in {place}")))
    }

    /// Returns the error that the scanner has recorded.
    pub(super) fn lexical_error(&self, span: Span) -> Box<SyntaxError> {
        let error = &self.lexer.extras.error;
        let near = match error.near {
            Near::Aborted => return self.aborted(),
            Near::Nothing => None,
            Near::Eof => Some(b"<eof>".to_vec()),
            Near::Buffer => Some(quote(&self.lexer.extras.buffer)),
            Near::Slice => Some(quote(&self.source[span.start as usize..span.end as usize])),
        };
        let text = match error.start_line {
            Some(line) => format!("{} (starting at line {line})", error.text),
            None => error.text.to_owned(),
        };
        self.positioned(&text, near.as_deref(), span, error.near == Near::Eof)
    }

    fn positioned(
        &self,
        text: &str,
        near: Option<&[u8]>,
        span: Span,
        incomplete: bool,
    ) -> Box<SyntaxError> {
        let line = self.line();
        let mut message = chunkid(self.name);
        message.extend_from_slice(format!(":{line}: {text}").as_bytes());
        if let Some(near) = near {
            message.extend_from_slice(b" near ");
            message.extend_from_slice(near);
        }
        Box::new(SyntaxError { message, line, span, incomplete, kind: ErrorKind::Syntax })
    }

    /// Returns the current token as messages show it; `None` for a zero byte, which PUC treats as
    /// no token.
    pub(super) fn token_text(&self) -> Option<Vec<u8>> {
        match &self.token {
            Token::Name | Token::Number => {
                Some(quote(&self.source[self.span.start as usize..self.span.end as usize]))
            }
            Token::String => Some(quote(&self.lexer.extras.buffer)),
            Token::Other => match self.source[self.span.start as usize] {
                0 => None,
                byte if byte.is_ascii_graphic() => Some(quote(&[byte])),
                byte => Some(format!("'<\\{byte}>'").into_bytes()),
            },
            token => Some(token.description().into()),
        }
    }
}

/// Returns `'text'`, cut off at a zero byte, where the C string ends.
fn quote(text: &[u8]) -> Vec<u8> {
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    [b"'", text, b"'"].concat()
}
