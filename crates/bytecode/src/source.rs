//! From source text to verified bytecode.

use std::sync::Arc;

use perilune_syntax::{chunkid, parse_at_depth};

use crate::compiler::compile;
use crate::proto::Proto;

/// Parses and compiles `source`. `name` is the chunk's name as given to `load`; `depth` the number of nested native calls, which counts
/// against the parser's limit of nesting levels.
///
/// # Errors
/// The message of the first error, as PUC words it.
pub fn compile_source(source: &[u8], name: &[u8], depth: u32) -> Result<Arc<Proto>, Vec<u8>> {
    let chunk = parse_at_depth(source, &chunkid(name), depth).map_err(|e| e.message)?;
    let proto = compile(&chunk, Arc::from(name)).map_err(|e| e.message_in(source, name))?;
    debug_assert!(crate::verify::verify(&proto).is_ok(), "compiled code does not verify");
    Ok(proto)
}
