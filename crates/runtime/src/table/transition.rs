//! Transitions between the shapes of one state.

use std::ptr;
use std::sync::Arc;

use super::LocalShape;
use crate::engine::Shape;
use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::string::LuaString;

impl LocalShape {
    /// Returns this state's object for `shape`, whose fields have these names, after creating it if
    /// necessary.
    unsafe fn adopt(
        st: *mut State,
        shape: Arc<Shape>,
        keys: Box<[*mut LuaString]>,
    ) -> *mut LocalShape {
        let id = shape.id();
        if let Some(&known) = (*st).shapes.get(&id) {
            return (*st).keep_shape(known);
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
            is_inline: shape.is_inline(),
            index: LocalShape::build_index(&keys),
            first_key: keys.as_ptr(),
            keys,
            next: Vec::new(),
            with_meta: ptr::null_mut(),
            shape,
        };
        let local = (*st).make_boxed(local, bytes);
        (*st).shapes.insert(id, local);
        local
    }

    /// Returns the shape of tables without fields.
    ///
    /// # Safety
    /// As for [`State::adopt`]. Called once, while the state is set up.
    pub unsafe fn empty(st: *mut State) -> *mut LocalShape {
        let shape = (*st).engine.empty_shape().clone();
        LocalShape::adopt(st, shape, Box::default())
    }

    /// Returns the shape of tables without fields whose slots are inline.
    ///
    /// # Safety
    /// As for [`State::adopt`].
    pub(super) unsafe fn inline(st: *mut State) -> *mut LocalShape {
        let shape = (*st).engine.inline_shape().clone();
        LocalShape::adopt(st, shape, Box::default())
    }

    /// Returns the shape for a table of this shape that has no more inline room, so that its slots
    /// are moved elsewhere, or null when it should become a dictionary.
    pub(super) unsafe fn outgrown(st: *mut State, this: *mut LocalShape) -> *mut LocalShape {
        if !(*this).is_inline {
            return this;
        }
        let shape = LocalShape::with_fields_of(st, (*st).empty_shape, this);
        match (*this).has_meta && !shape.is_null() {
            true => LocalShape::with_meta(st, shape),
            false => shape,
        }
    }

    /// Returns the shape of a table without a metatable whose fields have these names, all of them
    /// inline, or null if such a table should be in dictionary mode.
    ///
    /// # Safety
    /// As for [`State::adopt`].
    pub unsafe fn with_names(st: *mut State, names: &'static [&'static str]) -> *mut LocalShape {
        let Some(shape) = (*st).engine.with_fields(names) else { return ptr::null_mut() };
        if let Some(&known) = (*st).shapes.get(&shape.id()) {
            return (*st).keep_shape(known);
        }
        let keys = names.iter().map(|name| (*st).intern(name.as_bytes())).collect();
        LocalShape::adopt(st, shape, keys)
    }

    /// Returns the shape of a table of this shape after it has gained the field `name`, a short
    /// string, or null if it should change to dictionary mode.
    pub unsafe fn with_field(
        st: *mut State,
        this: *mut LocalShape,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        let known = LocalShape::known_successor(this, name);
        if known.is_null() {
            return LocalShape::new_successor(st, this, name);
        }
        (*st).keep_shape(known)
    }

    /// Returns the shape of a table of this shape after it has gained a metatable, or null if it
    /// should change to dictionary mode.
    pub unsafe fn with_meta(st: *mut State, this: *mut LocalShape) -> *mut LocalShape {
        if (*this).has_meta {
            return this;
        }
        let known = (*this).with_meta;
        if known.is_null() {
            return LocalShape::new_successor(st, this, ptr::null_mut());
        }
        (*st).keep_shape(known)
    }

    /// Returns the shape with the same fields and no metatable, or null when there is none.
    pub unsafe fn without_meta(st: *mut State, this: *mut LocalShape) -> *mut LocalShape {
        if !(*this).has_meta {
            return this;
        }
        let root = if (*this).is_inline { LocalShape::inline(st) } else { (*st).empty_shape };
        LocalShape::with_fields_of(st, root, this)
    }

    /// Returns the shape that a table of the shape `from` has after it has gained the fields of
    /// `other`, or null when there is none.
    unsafe fn with_fields_of(
        st: *mut State,
        from: *mut LocalShape,
        other: *mut LocalShape,
    ) -> *mut LocalShape {
        let mut shape = from;
        for slot in 0..(*other).count as usize {
            let name = (&(*other).keys)[slot];
            shape = LocalShape::with_field(st, shape, name);
            if shape.is_null() {
                break;
            }
        }
        shape
    }

    /// Creates a successor, or finds it among the shapes of the state. `name` is the name of the
    /// added field, or null for the addition of a metatable.
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
        if name.is_null() {
            (*this).with_meta = local;
            (*st).barrier(this.cast());
        } else {
            (*this).next.push((name, local));
        }
        local
    }

    /// Removes a dead shape from the state's map and from its predecessor's transitions. The
    /// collector calls this for every unreachable shape before the program runs again, and drops
    /// the box later.
    ///
    /// # Safety
    /// No table, cache or root points to `this`, and other dead shapes are still readable unless
    /// they were passed to this function.
    pub unsafe fn forget(st: *mut State, this: *mut LocalShape) {
        (*st).shapes.remove(&(*this).header.word);
        if let Some(from) = (*this).shape.predecessor()
            && let Some(&from) = (*st).shapes.get(&from.id())
        {
            (*from).next.retain(|&(_, shape)| shape != this);
            if (*from).with_meta == this {
                (*from).with_meta = ptr::null_mut();
            }
        }
    }
}
