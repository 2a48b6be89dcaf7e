//! The representation of a shape in one state.

use std::ptr;
use std::sync::Arc;

use crate::engine::{MAX_FIELDS, Shape};
use crate::header::GcHeader;
use crate::string::LuaString;

/// One state's object for an engine-wide [`Shape`]. It holds the shape, has this state's strings as
/// the names of the fields, and caches transitions, so that neither lookups nor transitions access
/// memory that other threads write.
///
/// It is boxed outside the blocks, and marked by the tables, inline caches and transitions that
/// point to it. When it is unreachable it is dropped, which releases the engine's shape.
#[repr(C)]
pub struct LocalShape {
    /// `word` is the shape's id.
    pub header: GcHeader,
    /// Number of fields.
    pub count: u32,
    /// Whether tables of this shape have a metatable.
    pub has_meta: bool,
    /// Whether the field slots of all tables of this shape are inline.
    pub is_inline: bool,
    /// The names of the fields by slot, which are alive as long as the shape is.
    pub keys: Box<[*mut LuaString]>,
    /// The address of the first of them, for machine code.
    pub first_key: *const *mut LuaString,
    /// An open-addressed index from name to slot, for more than eight fields.
    pub index: Option<Box<[u8]>>,
    /// Known successors: the name of an added field, and a shape. Not traced: a transition does not
    /// keep its successor alive, and is removed when the successor is dropped.
    pub next: Vec<(*mut LuaString, *mut LocalShape)>,
    /// The successor for the addition of a metatable, which machine code reads too; null if it is
    /// not known. It is traced, unlike `next`: most objects die before a collection, and their
    /// common shape would otherwise die with them.
    pub with_meta: *mut LocalShape,
    /// The engine's shape.
    pub shape: Arc<Shape>,
}

/// The largest number of fields for a linear search.
const LINEAR: usize = 8;

// The index holds slots plus one in bytes, and field counts are bytes.
const _: () = assert!(MAX_FIELDS < u8::MAX as u32);

impl LocalShape {
    /// Returns the slot of the field `name`, a short string.
    #[inline(always)]
    pub unsafe fn find(this: *mut LocalShape, name: *mut LuaString) -> Option<u32> {
        let keys = &(*this).keys;
        if keys.len() > LINEAR {
            return LocalShape::find_indexed(this, name);
        }
        keys.iter().position(|&key| key == name).map(|slot| slot as u32)
    }

    #[inline(never)]
    unsafe fn find_indexed(this: *mut LocalShape, name: *mut LuaString) -> Option<u32> {
        let index = (*this).index.as_deref()?;
        let keys = &(*this).keys;
        let mask = index.len() - 1;
        let mut i = (*name).header.word as usize & mask;
        loop {
            match index[i] {
                0 => return None,
                entry if keys[entry as usize - 1] == name => return Some(entry as u32 - 1),
                _ => i = (i + 1) & mask,
            }
        }
    }

    /// Builds an index that has two to four times as many places as keys. A place holds a slot plus
    /// one.
    pub(super) unsafe fn build_index(keys: &[*mut LuaString]) -> Option<Box<[u8]>> {
        if keys.len() <= LINEAR {
            return None;
        }
        let mut index = vec![0u8; (keys.len() * 2).next_power_of_two()].into_boxed_slice();
        let mask = index.len() - 1;
        for (slot, &key) in keys.iter().enumerate() {
            let mut i = (*key).header.word as usize & mask;
            while index[i] != 0 {
                i = (i + 1) & mask;
            }
            index[i] = slot as u8 + 1;
        }
        Some(index)
    }

    /// Returns a known successor, which this state has used before.
    #[inline]
    pub(super) unsafe fn known_successor(
        this: *mut LocalShape,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        let next = &mut (*this).next;
        match next.iter().position(|&(key, _)| key == name) {
            None => ptr::null_mut(),
            Some(0) => next[0].1,
            Some(i) => {
                // Successors that are used often move to the front.
                next.swap(i, i / 2);
                next[i / 2].1
            }
        }
    }
}
