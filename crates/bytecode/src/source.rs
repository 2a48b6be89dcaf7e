//! From source text to verified bytecode.

use std::cell::Cell;
use std::sync::Arc;

use perilune_syntax::{ErrorKind, Watch, parse_watched, with_arena};

use crate::compiler::compile_tree;
use crate::proto::Proto;

/// The error of a chunk that cannot be loaded.
pub struct LoadError {
    /// The message, as PUC words it.
    pub message: Vec<u8>,
    /// The kind of the error.
    pub kind: ErrorKind,
}

/// Parses and compiles `source`. `name` is the chunk's name as given to `load`; `depth` is the
/// number of nested native calls, which counts against the parser's limit of nesting levels.
///
/// # Errors
/// Returns the first error.
pub fn compile_source(source: &[u8], name: &[u8], depth: u32) -> Result<Arc<Proto>, LoadError> {
    compile_watched(source, name, depth, &|_| false)
}

/// Like [`compile_source`], but gives up when `watch` returns true.
///
/// # Errors
/// Returns the first error, or [`perilune_syntax::ABORTED`].
pub fn compile_watched(
    source: &[u8],
    name: &[u8],
    depth: u32,
    watch: Watch<'_>,
) -> Result<Arc<Proto>, LoadError> {
    with_arena(|arena| {
        let chunk = parse_watched(arena, source, name, depth, watch)
            .map_err(|e| LoadError { message: e.message, kind: e.kind })?;
        compile_tree(&chunk, &shared_name(name), watch)
            .map_err(|e| LoadError { kind: e.kind, message: e.message_in(source, name) })
    })
}

/// The length in bytes above which a name is not kept for the next chunk.
const KEEP: usize = 256;

thread_local! {
    /// The name of this thread's last chunk, since the next chunk often has the same name.
    static LAST_NAME: Cell<Option<Arc<[u8]>>> = const { Cell::new(None) };
}

/// Returns a chunk's name for its protos, shared with the last chunk if their names are equal.
fn shared_name(name: &[u8]) -> Arc<[u8]> {
    if name.len() > KEEP {
        return Arc::from(name);
    }
    let last = LAST_NAME.try_with(Cell::take).ok().flatten();
    let shared = last.filter(|last| **last == *name).unwrap_or_else(|| Arc::from(name));
    let _ = LAST_NAME.try_with(|last| last.set(Some(Arc::clone(&shared))));
    shared
}
