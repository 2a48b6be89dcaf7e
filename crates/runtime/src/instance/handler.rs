//! Records of the metamethods that instructions have called.
//!
//! Few instructions call metamethods, so the records of a function are allocated when one of its
//! instructions first does so.

use std::ptr::{null_mut, slice_from_raw_parts_mut};

use super::{FieldEntry, Handled, HandlerCache, Instance};
use crate::closure::LuaClosure;
use crate::header::GcHeader;
use crate::state::State;
use crate::table::{TAGGED, Table};
use crate::value::Tag;

/// Returns the instance of a Lua function, or null for null.
unsafe fn instance_of(function: *mut GcHeader) -> *mut Instance {
    if function.is_null() { null_mut() } else { (*function.cast::<LuaClosure>()).instance }
}

impl HandlerCache {
    /// Returns the metamethod if no other was called.
    pub fn only(&self) -> Option<*mut LuaClosure> {
        let is_used = self.others == 0 && !self.entry.outcome.is_null();
        is_used.then_some(self.entry.outcome.cast())
    }
}

impl Instance {
    /// Returns the record of the instruction at `pc`, if it has called a metamethod.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn handler(&self, pc: usize) -> Option<&HandlerCache> {
        debug_assert!(pc < self.proto.code.len());
        if self.handlers.is_null() { None } else { (*self.handlers.add(pc)).as_deref() }
    }

    /// Returns the records of all instructions, mutably.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub(crate) unsafe fn handlers_mut(&mut self) -> impl Iterator<Item = &mut HandlerCache> {
        let n = if self.handlers.is_null() { 0 } else { self.proto.code.len() };
        let all =
            if n == 0 { &mut [][..] } else { &mut *slice_from_raw_parts_mut(self.handlers, n) };
        all.iter_mut().flatten().map(|record| &mut **record)
    }

    /// Records a metamethod that the instruction at `pc` calls.
    ///
    /// # Safety
    /// `this` is a live instance of `st` with an instruction at `pc`; the values are live.
    pub unsafe fn note_handler(st: &mut State, this: *mut Instance, pc: usize, handled: Handled) {
        let Handled { first, shape, receiver, function } = handled;
        let word = if receiver.is_table() { (*receiver.as_table()).meta } else { 0 };
        let is_lua = word != 0 && word & TAGGED == 0 && function.tag() == Tag::FUNCTION;
        let outcome = if is_lua { function.as_header() } else { null_mut() };
        // Changes of the metatable's events invalidate the record.
        debug_assert!(
            !is_lua || {
                let meta = std::ptr::with_exposed_provenance_mut::<Table>(word);
                (*meta).header.flags & GcHeader::IS_META != 0
            }
        );
        if (*this).handlers.is_null() && !Instance::make_handlers(st, this) {
            return;
        }
        let place = &mut *(*this).handlers.add(pc);
        let entry = FieldEntry {
            chain_shape: shape,
            epoch: st.meta_epoch,
            meta: word,
            outcome,
            ..FieldEntry::EMPTY
        };
        let Some(record) = place else {
            let others = u32::from(!is_lua);
            *place = Some(Box::new(HandlerCache { entry, first, others, previous: 0 }));
            st.heap.note_external(size_of::<HandlerCache>() as isize);
            return;
        };
        let known = &record.entry;
        // A program that is run again makes its classes again, with closures of the same functions.
        let is_same = record.first == first && instance_of(known.outcome) == instance_of(outcome);
        if known.outcome.is_null() || is_same {
            let has_same_shape = known.outcome.is_null() || known.chain_shape == shape;
            // Objects of several classes, whose metamethods are closures of one function.
            let is_other = word != known.meta;
            let alternates = is_other && word == record.previous;
            if is_other {
                record.previous = known.meta;
            }
            record.others += u32::from((!is_lua || alternates) && record.others == 0);
            (record.entry, record.first) = (entry, first);
            if !has_same_shape {
                record.entry.chain_shape = FieldEntry::NO_SHAPE;
            }
        } else {
            record.others = record.others.saturating_add(1);
        }
    }

    /// Allocates the records of all instructions. Returns false if there is no memory for them:
    /// nothing depends on records, and those of a long function are large.
    #[cold]
    unsafe fn make_handlers(st: &mut State, this: *mut Instance) -> bool {
        let n = (&(*this).proto).code.len();
        let mut records: Vec<Option<Box<HandlerCache>>> = Vec::new();
        if records.try_reserve_exact(n).is_err() {
            return false;
        }
        records.resize_with(n, || None);
        (*this).handlers = Box::into_raw(records.into_boxed_slice()).cast();
        st.heap.note_external((n * size_of::<usize>()) as isize);
        true
    }

    /// Frees the records.
    ///
    /// # Safety
    /// Nothing uses them any more.
    pub(super) unsafe fn free_handlers(&mut self) {
        if !self.handlers.is_null() {
            let n = self.proto.code.len();
            drop(Box::from_raw(slice_from_raw_parts_mut(self.handlers, n)));
            self.handlers = null_mut();
        }
    }

    /// Returns how many bytes the records use.
    pub(super) fn bytes_of_handlers(&self) -> usize {
        if self.handlers.is_null() {
            return 0;
        }
        // SAFETY: the array has an element for each instruction, and is not changed while `self` is
        // lent.
        let all = unsafe { std::slice::from_raw_parts(self.handlers, self.proto.code.len()) };
        let used = all.iter().flatten().count();
        size_of_val(all) + used * size_of::<HandlerCache>()
    }
}
