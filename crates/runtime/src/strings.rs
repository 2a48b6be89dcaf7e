//! The interned short strings of one state, and making strings.

use crate::string::LuaString;

/// Open hash table of the short strings; weak: the collector takes dead ones out.
pub struct StringTable {
    /// Slots; null is free.
    pub slots: Box<[*mut LuaString]>,
    /// Strings in it.
    pub count: usize,
}
