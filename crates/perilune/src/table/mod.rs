//! Tables.

mod access;
mod create;
mod iter;
mod list;

use std::ffi::c_void;

use perilune_runtime::native::{Tab, Val};
use perilune_runtime::table::Table as TableObject;

#[cfg(feature = "serde")]
pub(crate) use access::key_error;
pub use iter::{TablePairs, TableSequence};

use crate::WeakLua;
use crate::control::Handle;
use crate::stack::Stack;

/// A handle to a table.
///
/// ```
/// let lua = perilune::Lua::new();
/// let t = lua.create_table()?;
/// t.set("x", 1)?;
/// t.push("first")?;
/// assert_eq!((t.get::<i64>("x")?, t.get::<String>(1)?, t.len()?), (1, "first".into(), 1));
/// assert_eq!(t.get::<Option<i64>>("y")?, None);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Table(pub(crate) Handle);

impl Table {
    #[inline(always)]
    fn object(&self) -> *mut TableObject {
        self.0.word().as_table()
    }

    fn tab<'a>(&self, s: Stack<'a>) -> Option<Tab<'a>> {
        // SAFETY: the table is rooted by the handle.
        unsafe { Val::of(s.cx(), self.0.word()) }.as_table()
    }

    /// Returns a border of the table (manual 3.4.7), without metamethods.
    #[inline]
    pub fn raw_len(&self) -> usize {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { TableObject::length(self.object()) as usize }
    }

    /// Returns whether the table has no entry, without metamethods.
    pub fn is_empty(&self) -> bool {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { TableObject::next_index(self.object(), TableObject::FIRST).is_none() }
    }

    /// Returns whether the table has a metatable.
    #[inline]
    pub fn has_metatable(&self) -> bool {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { (*self.object()).meta != 0 }
    }

    /// Returns a weak reference to the table's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the table.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}
