//! Errors of the compiler: limits of the instruction format.

use std::fmt;

use perilune_syntax::ErrorKind;

/// The reason why a parsed chunk does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    /// The whole message, `chunk:line: text`.
    pub message: Vec<u8>,
    /// Line at which the limit was exceeded.
    pub line: u32,
    /// How far PUC would have read the source at this point, if its message contains the current
    /// token.
    pub reached: Option<Reached>,
    /// The kind of the error.
    pub kind: ErrorKind,
    limit: Limit,
}

/// How far PUC, which compiles while it parses, has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reached {
    /// Offset in the source: the next token is the current one.
    pub at: u32,
    /// Whether a token that separates operands was skipped at this point.
    pub past_separator: bool,
}

impl CompileError {
    /// Returns the message with PUC's `near` token, which must be found in the source text.
    pub(crate) fn message_in(self, source: &[u8], name: &[u8]) -> Vec<u8> {
        let near = self.reached.and_then(|r| perilune_syntax::near(source, r.at, r.past_separator));
        let Some((line, near)) = near else { return self.message };
        let mut message = perilune_syntax::chunkid(name);
        message.extend_from_slice(format!(":{line}: {} near ", self.limit.text()).as_bytes());
        message.extend_from_slice(&near);
        message
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl std::error::Error for CompileError {}

/// A limit that a function can exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Registers,
    ControlStructure,
    Constants,
    Upvalues,
    Functions,
    ConstructorItems,
    Instructions,
    DescribedLocals,
    Text,
    /// The limit of the watch.
    Watch,
}

impl Limit {
    fn text(self) -> &'static str {
        match self {
            Limit::Registers => "function or expression needs too many registers",
            Limit::ControlStructure => "control structure too long",
            Limit::Constants => "too many constants",
            Limit::Upvalues => "too many upvalues (limit is 255)",
            Limit::Functions => "too many functions",
            Limit::ConstructorItems => "too many items in a constructor",
            Limit::Instructions => "too many opcodes",
            Limit::DescribedLocals => "too many local variables (limit is 32767)",
            Limit::Text => "too many strings",
            Limit::Watch => perilune_syntax::ABORTED,
        }
    }
}

/// A limit that was exceeded at a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exceeded {
    pub(super) limit: Limit,
    pub(super) line: u32,
    pub(super) reached: Reached,
}

impl Exceeded {
    /// Returns the public error, for a chunk of this name (as given to `load`).
    pub(super) fn in_chunk(self, source: &[u8]) -> CompileError {
        let mut message = Vec::new();
        let kind = match self.limit {
            Limit::DescribedLocals => ErrorKind::Runtime,
            Limit::Watch => ErrorKind::Aborted,
            _ => ErrorKind::Syntax,
        };
        // PUC raises the other errors without a position.
        if kind == ErrorKind::Syntax {
            message = perilune_syntax::chunkid(source);
            message.extend_from_slice(format!(":{}: ", self.line).as_bytes());
        }
        message.extend_from_slice(self.limit.text().as_bytes());
        let shows_token = matches!(self.limit, Limit::Registers | Limit::ControlStructure);
        let reached = shows_token.then_some(self.reached);
        CompileError { message, line: self.line, reached, kind, limit: self.limit }
    }
}

pub(super) type Result<T, E = Exceeded> = std::result::Result<T, E>;
