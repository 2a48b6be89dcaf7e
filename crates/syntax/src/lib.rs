//! Lexer, parser and syntax tree of Lua 5.4.
//!
//! **Invariant:** knows nothing of bytecode, values or the heap.
#![forbid(unsafe_code)]

pub mod ast;
mod error;
mod names;
mod span;

pub use error::SyntaxError;
pub use names::Names;
pub use span::Span;

/// Parses `source` (without shebang handling; see [`skip_preamble`]). `chunk` is the display name of the
/// chunk, as messages show it (PUC's `luaO_chunkid` applied).
///
/// # Errors
/// The first error in the text, worded and placed as PUC does.
pub fn parse(_source: &[u8], _chunk: &[u8]) -> Result<ast::Chunk, SyntaxError> {
    todo!()
}
