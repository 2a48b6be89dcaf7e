//! Analysis of source text without running it, for consoles and editors.
//!
//! ```
//! use perilune::syntax::{self, LexemeKind};
//!
//! let error = syntax::check(b"x = = 1", b"=demo").unwrap_err();
//! assert_eq!(error.to_string(), "demo:1: unexpected symbol near '='");
//! assert_eq!((error.span.start, error.span.end), (4, 5));
//! assert!(syntax::check(b"for i = 1, 3 do", b"=demo").unwrap_err().incomplete);
//!
//! let kinds: Vec<_> = syntax::lexemes(b"return 1 -- one").map(|l| l.kind).collect();
//! assert_eq!(kinds, [LexemeKind::Keyword, LexemeKind::Number, LexemeKind::Comment]);
//! ```

pub use perilune_syntax::{
    Lexeme, LexemeKind, Lexemes, Span, SyntaxError, chunkid, lexemes, skip_preamble,
};

use perilune_syntax::with_arena;

/// Parses a chunk and discards the result. `name` has the form that
/// [`Chunk::set_name`](crate::Chunk::set_name) describes.
///
/// # Errors
/// Returns the first syntax error. Limits of the compiler, such as the number of registers, are
/// found only when the chunk is loaded.
pub fn check(source: &[u8], name: &[u8]) -> Result<(), SyntaxError> {
    with_arena(|arena| perilune_syntax::parse(arena, source, name).map(drop))
}
