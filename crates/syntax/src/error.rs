//! Syntax errors, with the same wording as in PUC Lua 5.4.

use std::fmt;

use crate::span::Span;

/// The reason why a chunk does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The whole message, with bytes as in the source: `chunk:line: text near 'token'`.
    pub message: Vec<u8>,
    /// Line of the error.
    pub line: u32,
    /// The offending token.
    pub span: Span,
    /// Whether the input ended too early, so that more text could make it valid (the message ends
    /// in `near <eof>`).
    pub incomplete: bool,
    /// The kind of the error.
    pub kind: ErrorKind,
}

/// The kind of an error in loading a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The chunk is wrong.
    Syntax,
    /// PUC raises the error as a run-time error, such as "C stack overflow". The message handler of
    /// `xpcall` is therefore called for it, and it has no position.
    Runtime,
    /// A [`Watch`](crate::Watch) ended the work. The message is [`ABORTED`](crate::ABORTED).
    Aborted,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl std::error::Error for SyntaxError {}
