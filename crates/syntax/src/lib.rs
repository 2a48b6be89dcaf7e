//! Lexer, parser and syntax tree of Lua 5.4.
//!
//! **Invariant:** this crate knows nothing of bytecode, values or the heap.
#![forbid(unsafe_code)]

mod arena;
pub mod ast;
mod chunkname;
mod error;
mod lexeme;
mod lexer;
mod names;
pub mod number;
mod parser;
mod span;
pub mod utf8;
mod watch;

pub use arena::{Arena, with_arena};
pub use chunkname::{chunkid, skip_preamble};
pub use error::{ErrorKind, SyntaxError};
pub use lexeme::{Lexeme, LexemeKind, Lexemes, lexemes};
pub use names::Names;
pub use parser::{is_hopeless, near, parse, parse_at_depth, parse_watched};
pub use span::Span;
pub use watch::{ABORTED, Watch};
