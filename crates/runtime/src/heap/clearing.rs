//! Removes the entries of weak tables whose values or keys are dead (manual 2.5.4).
//!
//! Values are removed in the atomic step, from the positions that visits have recorded, so the
//! program never sees a dead value.
//!
//! Keys are removed in slices, after everything that objects to be finalized refer to is marked.
//! Until then a table that may have dead keys carries the flag WEAK. The program cannot look up a
//! dead key, as it has no reference to one, so only traversals have to skip such an entry
//! ([`is_hidden`]). Objects that are created in the meantime have no mark either. They are
//! recognized by their location: they are in blocks that were taken since marking ended, which are
//! flagged, or in boxes with the mark [`NEW`]. Flags and marks are reset when the phase ends.

use super::Heap;
use super::block;
use super::boxed::NEW;
use super::marker::Marker;
use super::trace::{self, Visitor};
use super::weak::{NODES_BETWEEN_LOOKS, SOON, empty, key, kill, look_ahead, raw_value};
use super::weak_tables::{Part, Place};
use crate::header::GcHeader;
use crate::table::{Cell, Node, Table, WATCHED};
use crate::value::{SlotExt, Tag, Value};

/// Returns whether `o` was created since marking ended, in the phase Resurrect.
pub(super) unsafe fn is_new(o: *mut GcHeader) -> bool {
    if (*o).kind.is_boxed() {
        (*o).mark == NEW
    } else {
        (*o).flags & GcHeader::LARGE == 0 && block::is_new(o.cast())
    }
}

/// Returns whether the collector will remove the entry of the weak table `t` with this key, which
/// the program must not see.
///
/// # Safety
/// `t` is a live table that has the flag WEAK, and `key` is a key of it that has a value.
#[cold]
#[inline(never)]
pub(crate) unsafe fn is_hidden(t: *mut Table, key: Value) -> bool {
    // The table was reached, so its mark is that of the cycle.
    key.is_collectable()
        && !key.is_string()
        && (*key.as_header()).mark != (*t).header.mark
        && !is_new(key.as_header())
}

impl Marker {
    /// Removes the entries at the places that were noted whose values are not marked. Returns
    /// whether a cache of metatable chains may be invalid now.
    pub(super) unsafe fn clear_places(&mut self) -> bool {
        let mut changed = false;
        for i in 0..self.weak.places.len() {
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                break;
            }
            if let Some(soon) = self.weak.places.get(i + SOON) {
                prefetch_place(soon);
            }
            if let Some(place) = self.weak.places.get(i) {
                changed |= self.clear_place(place) && (*place.table).header.flags & WATCHED != 0;
            }
        }
        for i in 0..self.weak.doubtful.len() {
            let (t, _) = self.weak.doubtful[i];
            let (_, tags) = trace::any_array(t);
            // The length remains a border.
            while !tags.is_null()
                && (*t).array_len > 0
                && *tags.add((*t).array_len as usize - 1) == Tag::NIL
            {
                (*t).array_len -= 1;
            }
        }
        if !self.stop.was_due() {
            self.weak.places.truncate(0);
            self.weak.doubtful.clear();
        }
        changed
    }

    /// Removes the value at `place`, which may be a new one, if it is not marked. Returns whether
    /// it did so in a part that has string keys.
    unsafe fn clear_place(&mut self, place: Place) -> bool {
        let (t, i) = (place.table, place.index as usize);
        match place.part {
            Part::Fields => {
                if (*t).shape.is_null() || i >= (*(*t).shape).count as usize {
                    return false;
                }
                let field = (*t).fields.add(i);
                let cleared = self.is_cleared(field.get());
                if cleared {
                    field.put(Value::NIL);
                }
                cleared
            }
            Part::Array => {
                let (bits, tags) = trace::any_array(t);
                if !bits.is_null()
                    && i < (*t).array_len as usize
                    && self.is_cleared(Value::from_parts(*bits.add(i), *tags.add(i)))
                {
                    *bits.add(i) = 0;
                    *tags.add(i) = Tag::NIL;
                }
                false
            }
            Part::Nodes => {
                if i >= trace::node_count(t) {
                    return false;
                }
                let n = (*t).nodes.add(i);
                if trace::is_empty(n) {
                    kill(n);
                    return false;
                }
                if (*n).value_tag == Tag::CELL {
                    return self.clear_cell(n);
                }
                let cleared = self.is_cleared(raw_value(n));
                if cleared {
                    empty(n);
                    kill(n);
                } else if key(n).is_string() {
                    self.value(key(n));
                }
                cleared
            }
        }
    }

    /// Clears an entry of an environment: the cell becomes nil, and is kept with its key.
    unsafe fn clear_cell(&mut self, n: *mut Node) -> bool {
        let cell = raw_value(n).as_ptr::<Cell>();
        let place = &raw mut (*cell).value;
        let cleared = self.is_cleared(place.get());
        if cleared {
            place.put(Value::NIL);
        }
        self.value(key(n));
        self.object(cell.cast());
        cleared
    }

    /// Looks at up to `count` entries of the tables that may have dead keys, and removes those that
    /// have one. Returns whether it has looked at all.
    pub(super) unsafe fn clear_keys(&mut self, count: usize) -> bool {
        let mut left = count;
        loop {
            let Some(t) = self.weak.being_cleared() else { return true };
            let nodes = trace::node_count(t);
            let first = self.weak.cleared.min(nodes);
            let end = nodes.min(first + left);
            for i in first..end {
                let n = (*t).nodes.add(i);
                if i + SOON < nodes {
                    look_ahead(key(n.add(SOON)));
                }
                if !trace::is_empty(n) && self.is_cleared(key(n)) && !is_new(key(n).as_header()) {
                    empty(n);
                }
                if trace::is_empty(n) {
                    kill(n);
                }
            }
            self.weak.cleared = end;
            if end < nodes {
                return false;
            }
            (*t).header.flags &= !GcHeader::WEAK;
            self.weak.cleared = 0;
            let weak = &mut self.weak;
            if weak.unreached.pop().is_none() {
                weak.unreached_both.pop();
            }
            left = left.saturating_sub(end - first + 1);
        }
    }
}

impl Heap {
    /// Notes that the nodes of a table have moved, so that it looks at all of them when it removes
    /// dead keys.
    #[inline(always)]
    pub(crate) unsafe fn note_moved_nodes(&mut self, t: *mut Table) {
        if (*t).header.flags & GcHeader::WEAK != 0 {
            let weak = &mut self.marker.weak;
            if weak.being_cleared() == Some(t) {
                weak.cleared = 0;
            }
        }
    }
}

/// Prefetches the memory that says whether the value at `place` is marked.
unsafe fn prefetch_place(place: Place) {
    let (t, i) = (place.table, place.index as usize);
    match place.part {
        Part::Fields => {}
        Part::Array => {
            let (bits, tags) = trace::any_array(t);
            if !bits.is_null() && i < (*t).array_len as usize {
                look_ahead(Value::from_parts(*bits.add(i), *tags.add(i)));
            }
        }
        Part::Nodes => {
            if i < trace::node_count(t) {
                look_ahead(raw_value((*t).nodes.add(i)));
            }
        }
    }
}
