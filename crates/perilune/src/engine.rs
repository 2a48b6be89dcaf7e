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

    /// Field names that programs of the engine's states use now. They go away with their last user.
    pub fn symbols(&self) -> usize {
        self.shared.symbol_count()
    }

    /// Table layouts that the engine's states use now, the empty one included. They go away with their last user.
    pub fn shapes(&self) -> usize {
        self.shared.shape_count()
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}
