//! Fields: slots that the table's shape determines, and the conversion to dictionary mode.

use std::ptr;

use super::rehash::MIN_NODES;
use super::{LocalShape, Table, WATCHED};
use crate::engine::MAX_FIELDS;
use crate::header::GcHeader;
use crate::state::State;
use crate::value::{SlotExt, Value};

const _: () = assert!(crate::value::Tag::COLLECTABLE >> 6 == GcHeader::UNLOGGED);

impl Table {
    /// Writes the field slot `slot` of the table's shape.
    #[inline(always)]
    pub(super) unsafe fn write_field(st: *mut State, t: *mut Table, slot: u32, v: Value) {
        let place = (*t).fields.add(slot as usize);
        // One test is enough for both flags: UNLOGGED matters only for collectable values, whose
        // tags have bit 6.
        if (*t).header.flags & (WATCHED | v.tag().0 >> 6) != 0 {
            Table::before_field_write(st, t, slot, v);
        }
        place.put(v);
    }

    #[cold]
    #[inline(never)]
    unsafe fn before_field_write(st: *mut State, t: *mut Table, slot: u32, v: Value) {
        let name = Value::string((&(*(*t).shape).keys)[slot as usize]);
        Table::note_write(st, t, name, (*t).fields.add(slot as usize).get(), v);
        (*st).barrier_of_store(t, v);
    }

    /// Adds the field that the shape `next` has in addition to those of the table, with the value
    /// `v`. The table has room for it, or `next` does not require inline slots.
    #[inline(always)]
    pub(super) unsafe fn add_field(st: *mut State, t: *mut Table, next: *mut LocalShape, v: Value) {
        let slot = (*next).count - 1;
        if slot >= (*t).fields_cap as u32 {
            debug_assert!(!(*next).is_inline);
            Table::grow_fields(st, t);
        }
        (*t).fields.add(slot as usize).put(v);
        Table::set_shape(st, t, next);
    }

    /// Gives the table a shape with as many fields as it has slots in use.
    #[inline(always)]
    pub(super) unsafe fn set_shape(st: *mut State, t: *mut Table, shape: *mut LocalShape) {
        (*t).shape = shape;
        (*t).header.word = (*shape).header.word;
        if (*t).header.flags & (WATCHED | GcHeader::UNLOGGED) != 0 {
            Table::after_new_shape(st, t);
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn after_new_shape(st: *mut State, t: *mut Table) {
        let shape = (*t).shape;
        if let Some(last) = ((*shape).count as usize).checked_sub(1) {
            Table::note_new_key(st, t, Value::string((&(*shape).keys)[last]));
        }
        (*st).barrier(t.cast());
    }

    /// Doubles the number of field slots and moves them out of the table, so that they are no
    /// longer inline.
    ///
    /// # Safety
    /// `t` is a live table of `st` with fewer slots than the maximum. Its shape does not require
    /// inline slots, or is replaced by such a shape before anything else uses the table.
    #[cold]
    #[inline(never)]
    pub unsafe fn grow_fields(st: *mut State, t: *mut Table) {
        let old_cap = (*t).fields_cap as usize;
        let cap = (old_cap * 2).clamp(4, MAX_FIELDS as usize);
        debug_assert!(cap > old_cap);
        let new = (*st).alloc_buffer(cap * size_of::<Value>()).cast::<Value>();
        for i in 0..cap {
            new.add(i).put(if i < old_cap { (*t).fields.add(i).get() } else { Value::NIL });
        }
        Table::free_fields(st, t);
        (*t).fields = new;
        (*t).fields_cap = cap as u8;
        Table::note_move(st, t);
        (*st).barrier(t.cast());
    }

    /// Checks that the field slots are inline if the shape says so, for the walk over the heap.
    ///
    /// # Panics
    /// Panics if they are not, or if there are fewer of them than the shape has fields.
    pub(crate) unsafe fn check_fields(t: *mut Table) {
        let shape = (*t).shape;
        if shape.is_null() {
            return;
        }
        let count = (*shape).count;
        assert!(count <= (*t).fields_cap.into(), "{count} fields of the table at {t:?}");
        let is_inline = (*t).fields == Table::inline_fields(t);
        assert!(is_inline || !(*shape).is_inline, "fields of the table at {t:?} are not inline");
    }

    /// Frees the field slots, unless they are inline.
    unsafe fn free_fields(st: *mut State, t: *mut Table) {
        if (*t).fields != Table::inline_fields(t) && (*t).fields_cap != 0 {
            (*st).free_buffer((*t).fields.cast(), (*t).fields_cap as usize * size_of::<Value>());
        }
    }

    /// Converts a table with a shape to a dictionary with room for at least `extra` more keys.
    /// Returns false, without an effect, if there is no memory for that.
    #[inline(never)]
    pub(super) unsafe fn make_dictionary(st: *mut State, t: *mut Table, extra: usize) -> bool {
        let shape = (*t).shape;
        debug_assert!(!shape.is_null());
        let fields = (*t).fields;
        let count = (*shape).count as usize;
        let live = (0..count).filter(|&i| !fields.add(i).get().is_nil()).count();
        let names = (&(*shape).keys)[..count].iter().map(|&name| Value::string(name));
        let values = (0..count).map(|i| fields.add(i).get());
        let entries = names.zip(values).filter(|(_, v)| !v.is_nil());
        let room = if extra > 0 { (live + extra).max(MIN_NODES) } else { live };
        if !Table::reserve_nodes(st, t, room, entries) {
            return false;
        }
        Table::free_fields(st, t);
        (*t).shape = ptr::null_mut();
        (*t).header.word = 0;
        (*t).fields = ptr::null_mut();
        (*t).fields_cap = 0;
        Table::note_move(st, t);
        (*st).barrier(t.cast());
        true
    }
}
