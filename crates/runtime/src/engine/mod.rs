//! What all states of an engine share: symbols and shapes.
//!
//! **Invariant:** nothing here points into a heap, and everything dies with its last user, but for the shapes of the library's tables, which
//! stay: an engine that many programs passed through is as large as one that has made its first state.

mod shape;
mod symbol;

#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

pub use shape::{MAX_CHILDREN, MAX_FIELDS, RESERVED_IDS, Shape};
pub use symbol::Symbol;

use shape::ShapeIds;
use symbol::SymbolTable;

/// The shared part of an engine.
pub struct EngineShared {
    symbols: Arc<SymbolTable>,
    ids: Arc<ShapeIds>,
    empty: Arc<Shape>,
    /// Shapes found by [`EngineShared::with_fields`], by address and length of the names.
    lists: Mutex<Vec<(usize, usize, Arc<Shape>)>>,
}

impl EngineShared {
    /// A fresh engine: no symbols, and the shape without fields.
    pub fn new() -> Arc<EngineShared> {
        let ids = Arc::new(ShapeIds::default());
        let empty = Shape::root(&ids);
        let symbols = Arc::new(SymbolTable::default());
        Arc::new(EngineShared { symbols, ids, empty, lists: Mutex::default() })
    }

    /// The shape of a table without fields and without metatable.
    pub fn empty_shape(&self) -> &Arc<Shape> {
        &self.empty
    }

    /// The symbol of a field name.
    pub fn symbol(&self, name: &[u8]) -> Arc<Symbol> {
        self.symbols.intern(name)
    }

    /// The shape of a table of shape `from` after it gained field `name`; `None` when such a table should become a
    /// dictionary (too many fields, too many successors, or no ids left).
    pub fn with_field(&self, from: &Arc<Shape>, name: &[u8]) -> Option<Arc<Shape>> {
        if from.count() >= MAX_FIELDS {
            return None;
        }
        from.successor(Some(self.symbol(name)))
    }

    /// The shape of a table without metatable that gained fields with these names, all different, one after another; `None` as in
    /// [`EngineShared::with_field`]. It stays with the engine, so that the next state finds it at once: such a list is part of the process.
    pub fn with_fields(&self, names: &'static [&'static str]) -> Option<Arc<Shape>> {
        let (at, len) = (names.as_ptr().addr(), names.len());
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, shape)) = lists.iter().find(|list| (list.0, list.1) == (at, len)) {
            return Some(shape.clone());
        }
        let mut shape = self.empty.clone();
        for name in names {
            shape = self.with_field(&shape, name.as_bytes())?;
        }
        lists.push((at, len, shape.clone()));
        Some(shape)
    }

    /// The shape of a table of shape `from` (which has no metatable) after it gained a metatable.
    pub fn with_metatable(&self, from: &Arc<Shape>) -> Option<Arc<Shape>> {
        debug_assert!(!from.has_meta());
        from.successor(None)
    }

    /// Leaves `count` ids for shapes that are still to be made, for tests of what happens when
    /// they run out.
    pub fn leave_shape_ids(&self, count: u32) {
        self.ids.skip_to(RESERVED_IDS.start - count);
    }

    /// Symbols alive.
    pub fn symbol_count(&self) -> usize {
        self.symbols.count()
    }

    /// Shapes alive, the empty one included.
    pub fn shape_count(&self) -> usize {
        self.ids.live.load(Ordering::Relaxed)
    }
}
