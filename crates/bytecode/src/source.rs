//! From source text to verified bytecode.

use std::sync::Arc;

use perilune_syntax::{parse_at_depth, with_arena};

use crate::compiler::compile;
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
    with_arena(|arena| {
        let chunk = parse_at_depth(arena, source, name, depth)
            .map_err(|e| LoadError { message: e.message, is_runtime: e.is_runtime })?;
        compile(&chunk, Arc::from(name)).map_err(|e| LoadError {
            is_runtime: e.is_runtime,
            message: e.message_in(source, name),
        })
    })
}
