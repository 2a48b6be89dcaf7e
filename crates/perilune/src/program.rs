//! Compiled programs that states of an engine share.

use std::sync::Arc;

use perilune_bytecode::{Proto, compile_source, undump};
use perilune_runtime::engine::EngineShared;

use crate::{Engine, Error};

/// A compiled chunk, for any number of states of one engine on any number of threads. It is cheap
/// to clone. It is freed, together with its machine code, when its last handle and its last
/// function have been dropped.
#[derive(Clone)]
pub struct Program {
    pub(crate) proto: Arc<Proto>,
    pub(crate) engine: Arc<EngineShared>,
}

impl Program {
    pub(crate) fn new(engine: &Engine, source: &[u8], name: &[u8]) -> Result<Program, Error> {
        let proto = if source.first() == Some(&0x1B) {
            undump(source, name).map_err(|e| Error::syntax(&e.message))?
        } else {
            compile_source(source, name, 0).map_err(|e| Error::syntax(&e.message))?
        };
        Ok(Program { proto, engine: engine.shared.clone() })
    }
}
