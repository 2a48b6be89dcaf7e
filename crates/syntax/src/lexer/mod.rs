//! The lexer: logos finds where a token starts and most tokens whole; what is not regular or needs
//! PUC's exact error texts (strings, long brackets, numerals) is read by the callbacks in this module's files.

mod long_bracket;
mod numeral;
mod quoted;
mod token;

use logos::Logos;

pub(crate) use token::Token;

/// The state of a lexer between tokens.
#[derive(Default)]
pub(crate) struct Scanner {
    /// Line of the next byte, from 1.
    pub(crate) line: u32,
    /// What was read of the last string token: its opening delimiter, then the decoded content. Messages
    /// show a string token so.
    pub(crate) buffer: Vec<u8>,
    /// Length of its opening, and of its closing, delimiter.
    delimiter: usize,
}

impl Scanner {
    /// The value of the last string token.
    pub(crate) fn string(&self) -> &[u8] {
        &self.buffer[self.delimiter..self.buffer.len() - self.delimiter]
    }
}

/// Why the text at the lexer's place is no token.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct LexError {
    pub(crate) text: &'static str,
    /// For an unfinished long bracket, the line where it starts.
    pub(crate) start_line: Option<u32>,
    pub(crate) near: Near,
}

/// Which text a message shows after `near`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Near {
    /// None.
    #[default]
    Nothing,
    /// The end of the input.
    Eof,
    /// [`Scanner::buffer`].
    Buffer,
    /// The source under the lexer's span.
    Slice,
}

impl LexError {
    fn new(text: &'static str, near: Near) -> LexError {
        LexError { text, start_line: None, near }
    }
}

type Lexer<'s> = logos::Lexer<'s, Token>;

/// A lexer at the start of `source`.
pub(crate) fn lexer(source: &[u8]) -> Lexer<'_> {
    Token::lexer_with_extras(source, Scanner { line: 1, ..Scanner::default() })
}

/// Counts one line.
fn newline(lexer: &mut Lexer<'_>) -> Result<(), LexError> {
    lexer.extras.line += 1;
    if lexer.extras.line >= i32::MAX as u32 {
        return Err(LexError::new("chunk has too many lines", Near::Nothing));
    }
    Ok(())
}

/// Length of the line break at the start of `text`: any of `\n`, `\r`, `\r\n`, `\n\r`; 0 if there is none.
fn line_break(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] | [b'\n', b'\r', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}
