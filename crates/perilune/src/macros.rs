//! The functions and types that macro expansions use (feature `macros`).

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::cell::Cell;

pub use inventory;

use crate::{AsChunk, ChunkMode, Lua, Result, Table, UserDataRegistry};

/// The items that one `userdata_impl` block adds to a type.
pub struct Items {
    /// The type.
    pub of: fn() -> TypeId,
    /// Adds the items to a `UserDataRegistry` of the type.
    pub register: fn(&mut dyn Any),
}

inventory::collect!(Items);

/// Adds the items of all blocks of a type.
pub fn register_items<T: 'static>(registry: &mut UserDataRegistry<T>) {
    let of = TypeId::of::<T>();
    for items in inventory::iter::<Items>.into_iter().filter(|i| (i.of)() == of) {
        (items.register)(registry);
    }
}

/// A chunk made by `chunk!`.
struct Quoted<F> {
    source: &'static str,
    capture: Cell<Option<F>>,
}

impl<F: FnOnce(&Table) -> Result<()>> AsChunk for Quoted<F> {
    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        let Some(capture) = self.capture.take() else { return Ok(None) };
        let captured = lua.create_table()?;
        capture(&captured)?;
        // other names are globals
        let meta = lua.create_table()?;
        meta.raw_set("__index", lua.globals())?;
        meta.raw_set("__newindex", lua.globals())?;
        captured.set_metatable(Some(meta))?;
        Ok(Some(captured))
    }

    fn mode(&self) -> Option<ChunkMode> {
        Some(ChunkMode::Text)
    }

    fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
    where
        Self: 'a,
    {
        Ok(Cow::Borrowed(self.source.as_bytes()))
    }
}

/// Creates a chunk without captured variables.
pub fn plain_chunk(source: &'static str) -> impl AsChunk {
    Quoted { source, capture: Cell::new(None::<fn(&Table) -> Result<()>>) }
}

/// Creates a chunk whose captured variables `capture` stores in a table.
pub fn capturing_chunk<F: FnOnce(&Table) -> Result<()>>(
    source: &'static str,
    capture: F,
) -> impl AsChunk {
    Quoted { source, capture: Cell::new(Some(capture)) }
}
