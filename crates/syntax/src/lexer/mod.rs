//! The lexer. Logos finds where a token starts, and matches most tokens completely. Callbacks in
//! this module's files read the tokens that are not regular or need PUC's exact error texts
//! (strings, long brackets, numerals).

mod long_bracket;
mod numeral;
mod quoted;
mod token;

use logos::Logos;

use crate::number::Number;
use crate::watch::{ABORTED, Watch};

pub(crate) use token::Token;

/// Number of bytes of strings, comments and white space between two calls of a [`Watch`].
const BYTES_BETWEEN_LOOKS: usize = 1 << 16;

/// The state of a lexer between tokens, and the contents of its last token.
pub(crate) struct Scanner<'s> {
    /// Line of the next byte, from 1.
    pub(crate) line: u32,
    /// The text of the last string token, as messages show it: its opening delimiter, then the
    /// decoded content.
    pub(crate) buffer: Vec<u8>,
    /// Length of its opening delimiter, which is also that of its closing delimiter.
    delimiter: usize,
    /// The value of the last numeral.
    pub(crate) number: Number,
    /// The reason why the last text was not a token.
    pub(crate) error: LexError,
    watch: Watch<'s>,
    /// The position in the source at which the watch was last called.
    looked: usize,
}

impl Scanner<'_> {
    /// Returns the value of the last string token.
    pub(crate) fn string(&self) -> &[u8] {
        &self.buffer[self.delimiter..self.buffer.len() - self.delimiter]
    }

    /// Records why there is no token.
    fn fail(&mut self, text: &'static str, near: Near) -> Failed {
        self.error = LexError { text, start_line: None, near };
        Failed
    }

    /// Fails if the watch returns true.
    fn look(&mut self) -> Result<()> {
        if (self.watch)(self.buffer.capacity()) {
            return Err(self.fail(ABORTED, Near::Aborted));
        }
        Ok(())
    }
}

/// The error type of the lexer: its position has no token. The scanner has the reason.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Failed;

type Result<T> = std::result::Result<T, Failed>;

/// The reason why the text at the lexer's position is not a token.
pub(crate) struct LexError {
    pub(crate) text: &'static str,
    /// For an unfinished long bracket, the line where it starts.
    pub(crate) start_line: Option<u32>,
    pub(crate) near: Near,
}

/// The text that a message shows after `near`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Near {
    /// No text.
    Nothing,
    /// No text, as the watch ended the work.
    Aborted,
    /// The end of the input.
    Eof,
    /// [`Scanner::buffer`].
    Buffer,
    /// The source in the lexer's span.
    Slice,
}

type Lexer<'s> = logos::Lexer<'s, Token>;

/// Returns a lexer at the start of `source`.
pub(crate) fn lexer<'s>(source: &'s [u8], watch: Watch<'s>) -> Lexer<'s> {
    let scanner = Scanner {
        line: 1,
        buffer: Vec::new(),
        delimiter: 0,
        number: Number::Integer(0),
        error: LexError { text: "", start_line: None, near: Near::Nothing },
        watch,
        looked: 0,
    };
    Token::lexer_with_extras(source, scanner)
}

/// Skips white space within a line.
fn spaces(lexer: &mut Lexer<'_>) -> Result<()> {
    let is_space = |b: &u8| matches!(b, b' ' | b'\t' | 0x0B | 0x0C);
    if !lexer.remainder().first().is_some_and(is_space) {
        return Ok(());
    }
    loop {
        let piece = piece(lexer)?;
        let end = piece.iter().position(|b| !is_space(b));
        lexer.bump(end.unwrap_or(piece.len()));
        if end.is_some() || lexer.remainder().is_empty() {
            return Ok(());
        }
    }
}

/// Counts one line.
fn newline(lexer: &mut Lexer<'_>) -> Result<()> {
    lexer.extras.line += 1;
    if lexer.extras.line >= i32::MAX as u32 {
        return Err(lexer.extras.fail("chunk has too many lines", Near::Nothing));
    }
    piece(lexer).map(drop)
}

/// Returns the next bytes, which may be many. Calls the watch when it is due.
fn piece<'s>(lexer: &mut Lexer<'s>) -> Result<&'s [u8]> {
    let at = lexer.span().end;
    if at - lexer.extras.looked >= BYTES_BETWEEN_LOOKS {
        lexer.extras.looked = at;
        lexer.extras.look()?;
    }
    let rest = lexer.remainder();
    Ok(&rest[..rest.len().min(BYTES_BETWEEN_LOOKS)])
}

/// Returns the length of the line break at the start of `text`: any of `\n`, `\r`, `\r\n`, `\n\r`.
/// Returns 0 if there is none.
fn line_break(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] | [b'\n', b'\r', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}
