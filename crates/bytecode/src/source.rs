//! From source text to verified bytecode.

use std::sync::Arc;

use perilune_syntax::{Watch, parse_watched, with_arena};

use crate::compiler::compile_tree;
use crate::proto::Proto;

/// Why a chunk cannot be loaded.
pub struct LoadError {
    /// As PUC words it.
    pub message: Vec<u8>,
    /// PUC raises it as a run-time error, which message handlers see.
    pub is_runtime: bool,
}

/// Parses and compiles `source`. `name` is the chunk's name as given to `load`; `depth` the number of nested native calls, which counts
/// against the parser's limit of nesting levels.
///
/// # Errors
/// The first error.
pub fn compile_source(source: &[u8], name: &[u8], depth: u32) -> Result<Arc<Proto>, LoadError> {
    compile_watched(source, name, depth, &|_| false)
}

/// As [`compile_source`], as long as `watch` lets it.
///
/// # Errors
/// The first error; [`perilune_syntax::GIVEN_UP`].
pub fn compile_watched(
    source: &[u8],
    name: &[u8],
    depth: u32,
    watch: Watch<'_>,
) -> Result<Arc<Proto>, LoadError> {
    with_arena(|arena| {
        let chunk = parse_watched(arena, source, name, depth, watch)
            .map_err(|e| LoadError { message: e.message, is_runtime: e.is_runtime })?;
        compile_tree(&chunk, Arc::from(name), watch).map_err(|e| LoadError {
            is_runtime: e.is_runtime,
            message: e.message_in(source, name),
        })
    })
}
