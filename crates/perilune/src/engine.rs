//! The engine: what states share.

use std::sync::Arc;

use perilune_runtime::engine::EngineShared;

/// What any number of states on any number of threads share: shapes, symbols, and the code of programs.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<EngineShared>,
}

impl Engine {
    /// A new engine.
    pub fn new() -> Engine {
        Engine { shared: EngineShared::new() }
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}
