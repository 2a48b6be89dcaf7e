//! A shape as one state knows it.

use std::ptr;
use std::sync::Arc;

use crate::engine::{MAX_FIELDS, Shape};
use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::string::LuaString;

/// One state's object for an engine-wide [`Shape`]: it holds the shape, names its fields by this state's strings, and caches
/// transitions, so that neither lookups nor transitions touch anything that another thread writes.
///
/// Boxed outside the blocks. Marked by the tables, inline caches and transitions that point at it; when unreached it is
/// dropped, which lets go of the engine's shape.
#[repr(C)]
pub struct LocalShape {
    /// `word` is the shape's id.
    pub header: GcHeader,
    /// Number of fields.
    pub count: u32,
    /// Tables of this shape have a metatable.
    pub has_meta: bool,
    /// Field names by slot; alive while the shape is.
    pub keys: Box<[*mut LuaString]>,
    /// For more than eight fields: open-addressed index from name to slot.
    pub index: Option<Box<[u8]>>,
    /// Known successors: field name (null: gain of a metatable) and shape. Not traced: a successor holds its own life, and
    /// the entry is removed when the successor is dropped.
    pub next: Vec<(*mut LuaString, *mut LocalShape)>,
    /// The shape.
    pub shape: Arc<Shape>,
}

/// Most fields that are searched one by one.
const LINEAR: usize = 8;

// The index holds slots plus one in bytes, and fields are counted in bytes.
const _: () = assert!(MAX_FIELDS < u8::MAX as u32);

impl LocalShape {
    /// The slot of field `name`, a short string.
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

    /// An index of twice to four times as many places as keys; a place holds a slot plus one.
    unsafe fn build_index(keys: &[*mut LuaString]) -> Option<Box<[u8]>> {
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

    /// This state's object for `shape`, whose fields have these names; made if there is none.
    unsafe fn adopt(
        st: *mut State,
        shape: Arc<Shape>,
        keys: Box<[*mut LuaString]>,
    ) -> *mut LocalShape {
        let id = shape.id();
        if let Some(&known) = (*st).shapes.get(&id) {
            return known;
        }
        debug_assert_eq!(keys.len(), shape.count() as usize);
        let bytes = size_of::<LocalShape>() + keys.len() * 12;
        let local = LocalShape {
            header: GcHeader {
                kind: Kind::Shape,
                mark: (*st).heap.newborn,
                flags: 0,
                aux: 0,
                word: id,
            },
            count: shape.count(),
            has_meta: shape.has_meta(),
            index: LocalShape::build_index(&keys),
            keys,
            next: Vec::new(),
            shape,
        };
        let local = (*st).make_boxed(local, bytes);
        (*st).shapes.insert(id, local);
        local
    }

    /// The shape of tables without fields.
    ///
    /// # Safety
    /// As [`State::adopt`]; called once, while the state is set up.
    pub unsafe fn empty(st: *mut State) -> *mut LocalShape {
        let shape = (*st).engine.empty_shape().clone();
        LocalShape::adopt(st, shape, Box::default())
    }

    /// The shape of a table without metatable whose fields have these names; null when such a table should be a dictionary.
    ///
    /// # Safety
    /// As [`State::adopt`].
    pub unsafe fn with_names(st: *mut State, names: &'static [&'static str]) -> *mut LocalShape {
        let Some(shape) = (*st).engine.with_fields(names) else { return ptr::null_mut() };
        if let Some(&known) = (*st).shapes.get(&shape.id()) {
            return known;
        }
        let keys = names.iter().map(|name| (*st).intern(name.as_bytes())).collect();
        LocalShape::adopt(st, shape, keys)
    }

    /// A successor that this state has used before.
    #[inline]
    unsafe fn known_successor(this: *mut LocalShape, name: *mut LuaString) -> *mut LocalShape {
        let next = &mut (*this).next;
        match next.iter().position(|&(key, _)| key == name) {
            None => ptr::null_mut(),
            Some(0) => next[0].1,
            Some(i) => {
                // The busy ones drift to the front.
                next.swap(i, i / 2);
                next[i / 2].1
            }
        }
    }

    /// The shape after a table of this one gained field `name`, a short string; null when it should become a dictionary.
    pub unsafe fn with_field(
        st: *mut State,
        this: *mut LocalShape,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        let known = LocalShape::known_successor(this, name);
        if known.is_null() { LocalShape::new_successor(st, this, name) } else { known }
    }

    /// The shape after a table of this one gained a metatable; null when it should become a dictionary.
    pub unsafe fn with_meta(st: *mut State, this: *mut LocalShape) -> *mut LocalShape {
        if (*this).has_meta {
            return this;
        }
        LocalShape::with_field(st, this, ptr::null_mut())
    }

    /// The shape with the same fields and no metatable; null when there is none.
    pub unsafe fn without_meta(st: *mut State, this: *mut LocalShape) -> *mut LocalShape {
        if !(*this).has_meta {
            return this;
        }
        let mut shape = (*st).empty_shape;
        for slot in 0..(*this).count as usize {
            let name = (&(*this).keys)[slot];
            shape = LocalShape::with_field(st, shape, name);
            if shape.is_null() {
                break;
            }
        }
        shape
    }

    #[cold]
    #[inline(never)]
    unsafe fn new_successor(
        st: *mut State,
        this: *mut LocalShape,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        let engine = &(*st).engine;
        let from = &(*this).shape;
        let shape = if name.is_null() {
            engine.with_metatable(from)
        } else {
            engine.with_field(from, LuaString::bytes(name))
        };
        let Some(shape) = shape else {
            return ptr::null_mut();
        };
        let mut keys = (*this).keys.to_vec();
        if !name.is_null() {
            keys.push(name);
        }
        let local = LocalShape::adopt(st, shape, keys.into());
        (*this).next.push((name, local));
        local
    }

    /// Takes a dead shape out of the state's map and out of its predecessor's transitions. The collector calls this for
    /// every unreached shape before anything can run again, and drops the box at its leisure.
    ///
    /// # Safety
    /// No table, cache or root points at `this`, and shapes that died with it are still readable unless they went through here.
    pub unsafe fn forget(st: *mut State, this: *mut LocalShape) {
        (*st).shapes.remove(&(*this).header.word);
        if let Some(from) = (*this).shape.predecessor()
            && let Some(&from) = (*st).shapes.get(&from.id())
        {
            (*from).next.retain(|&(_, shape)| shape != this);
        }
    }
}
