//! Symbols: the engine-wide identity of strings used as field names.

use std::sync::{Arc, Weak};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use perilune_code::lock::{Mutex, lock};

/// A field name. Two live symbols of an engine are the same object exactly when their names are
/// equal.
pub struct Symbol {
    name: Arc<[u8]>,
    table: Weak<SymbolTable>,
}

impl Symbol {
    /// Returns the name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }
}

impl Drop for Symbol {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            table.forget(self);
        }
    }
}

/// The symbols of an engine, by name. The references are weak.
pub(super) struct SymbolTable {
    map: Mutex<HashMap<Arc<[u8]>, Weak<Symbol>, FixedState>>,
}

impl Default for SymbolTable {
    fn default() -> Self {
        let map = HashMap::with_capacity_and_hasher(LIBRARY, FixedState::default());
        SymbolTable { map: Mutex::new(map) }
    }
}

/// Room for the names of the standard library, so that a first state does not enlarge the table
/// several times.
const LIBRARY: usize = 224;

impl SymbolTable {
    /// Returns the symbol called `name`, after creating it if necessary.
    pub(super) fn intern(self: &Arc<Self>, name: &[u8]) -> Arc<Symbol> {
        let mut map = lock(&self.map);
        if let Some(symbol) = map.get(name).and_then(Weak::upgrade) {
            return symbol;
        }
        let name = Arc::<[u8]>::from(name);
        let symbol = Arc::new(Symbol { name: name.clone(), table: Arc::downgrade(self) });
        map.insert(name, Arc::downgrade(&symbol));
        symbol
    }

    /// Removes the entry of a symbol that is being dropped, unless a new one of that name has
    /// replaced it.
    fn forget(&self, symbol: &Symbol) {
        let mut map = lock(&self.map);
        if let Some(entry) = map.get(&symbol.name)
            && std::ptr::eq(entry.as_ptr(), symbol)
        {
            map.remove(&symbol.name);
        }
        if map.capacity() > 2 * LIBRARY && map.len() * 8 < map.capacity() {
            map.shrink_to(LIBRARY);
        }
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.map).len()
    }
}
