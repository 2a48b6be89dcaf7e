//! Errors of the compiler: limits of the instruction format.

use std::fmt;

/// Why a parsed chunk does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    /// The whole message, `chunk:line: text`.
    pub message: Vec<u8>,
    /// Line at which the limit was passed.
    pub line: u32,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl std::error::Error for CompileError {}

/// A limit that a function can pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Registers,
    ControlStructure,
    Constants,
    Functions,
    ConstructorItems,
    Instructions,
}

impl Limit {
    fn text(self) -> &'static str {
        match self {
            Limit::Registers => "function or expression needs too many registers",
            Limit::ControlStructure => "control structure too long",
            Limit::Constants => "too many constants",
            Limit::Functions => "too many functions",
            Limit::ConstructorItems => "too many items in a constructor",
            Limit::Instructions => "too many opcodes",
        }
    }
}

/// A limit passed at a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exceeded {
    pub(super) limit: Limit,
    pub(super) line: u32,
}

impl Exceeded {
    /// The public error, for a chunk of this name (as given to `load`).
    pub(super) fn in_chunk(self, source: &[u8]) -> CompileError {
        let mut message = perilune_syntax::chunkid(source);
        message.extend_from_slice(format!(":{}: {}", self.line, self.limit.text()).as_bytes());
        CompileError { message, line: self.line }
    }
}

pub(super) type Result<T, E = Exceeded> = std::result::Result<T, E>;
