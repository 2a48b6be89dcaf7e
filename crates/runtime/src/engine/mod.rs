//! The parts that all states of an engine share: symbols and shapes.
//!
//! **Invariant:** nothing here points into a heap, and everything except the shapes of the
//! library's tables is dropped with its last user. So an engine in which many programs have run is
//! as large as one that has created its first state.

mod shape;
mod symbol;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use perilune_code::fork;
use perilune_code::lock::{Mutex, lock};

pub use shape::{MAX_CHILDREN, MAX_FIELDS, RESERVED_IDS, Shape};
pub use symbol::Symbol;

use shape::ShapeIds;
use symbol::SymbolTable;

/// The shared part of an engine.
pub struct EngineShared {
    symbols: Arc<SymbolTable>,
    ids: Arc<ShapeIds>,
    /// The roots of the shapes.
    empty: Arc<Shape>,
    inline: Arc<Shape>,
    /// Shapes created by [`EngineShared::with_fields`], by address and length of the list of names.
    lists: Mutex<Vec<(usize, usize, Arc<Shape>)>>,
}

impl EngineShared {
    /// Creates an engine without symbols, with only the shape without fields.
    pub fn new() -> Arc<EngineShared> {
        fork::watch();
        let ids = Arc::new(ShapeIds::default());
        let (empty, inline) = (Shape::root(&ids, false), Shape::root(&ids, true));
        let symbols = Arc::new(SymbolTable::default());
        Arc::new(EngineShared { symbols, ids, empty, inline, lists: Mutex::default() })
    }

    /// Returns the shape of a table without fields and without a metatable.
    pub fn empty_shape(&self) -> &Arc<Shape> {
        &self.empty
    }

    /// Returns the shape of a table without fields and without a metatable whose slots are inline,
    /// which its successors inherit.
    pub fn inline_shape(&self) -> &Arc<Shape> {
        &self.inline
    }

    /// Returns the symbol of a field name.
    pub fn symbol(&self, name: &[u8]) -> Arc<Symbol> {
        self.symbols.intern(name)
    }

    /// Returns the shape of a table of the shape `from` after it has gained the field `name`, or
    /// `None` when such a table should become a dictionary (too many fields, too many successors,
    /// or no ids left).
    pub fn with_field(&self, from: &Arc<Shape>, name: &[u8]) -> Option<Arc<Shape>> {
        if from.count() >= MAX_FIELDS {
            return None;
        }
        from.successor(Some(self.symbol(name)))
    }

    /// Returns the shape of a table without a metatable that has gained fields with these names,
    /// all different, in this order, with room for them inline, or `None` as for
    /// [`EngineShared::with_field`]. The shape stays with the engine, so that the next state finds
    /// it immediately. This does not accumulate, as the lists are static.
    pub fn with_fields(&self, names: &'static [&'static str]) -> Option<Arc<Shape>> {
        let (at, len) = (names.as_ptr().addr(), names.len());
        let mut lists = lock(&self.lists);
        if let Some((_, _, shape)) = lists.iter().find(|list| (list.0, list.1) == (at, len)) {
            return Some(shape.clone());
        }
        let mut shape = self.inline.clone();
        for name in names {
            shape = self.with_field(&shape, name.as_bytes())?;
        }
        lists.push((at, len, shape.clone()));
        Some(shape)
    }

    /// Returns the shape of a table of the shape `from` (which has no metatable) after it has
    /// gained a metatable.
    pub fn with_metatable(&self, from: &Arc<Shape>) -> Option<Arc<Shape>> {
        debug_assert!(!from.has_meta());
        from.successor(None)
    }

    /// Limits the ids for shapes that are created from now on to `count`, for tests of what happens
    /// when they run out.
    pub fn leave_shape_ids(&self, count: u32) {
        self.ids.skip_to(RESERVED_IDS.start - count);
    }

    /// Returns the number of live symbols.
    pub fn symbol_count(&self) -> usize {
        self.symbols.count()
    }

    /// Returns the number of live shapes, including the two empty ones.
    pub fn shape_count(&self) -> usize {
        self.ids.live.load(Ordering::Relaxed)
    }
}
