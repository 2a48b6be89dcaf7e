//! Weak tables (manual 2.5.4): how weak a table is, and visiting its entries.
//!
//! A weak table that is reached is queued, and visited in parts when nothing else is left to trace,
//! since most of the objects to which it refers are marked by then. The visit records the rest:
//! tables that have unmarked keys, and the positions of unmarked values. From then on the write
//! barrier reports stores: a small table that is stored into is visited again, and an object stored
//! into a large table is marked. The atomic step therefore neither visits the tables again nor
//! examines other entries: it [follows](super::ephemerons) objects that were reached since, and
//! [clears](super::clearing) values at the recorded positions.

use super::block::{SMALL_MAX, line_mark, prefetch_line_mark};
use super::growth::try_push;
use super::mark::{PART, PART_WORK};
use super::marker::Marker;
use super::trace::{self, Visitor};
use super::weak_tables::{Part, Place, Visit, Weakness};
use crate::header::GcHeader;
use crate::meta::Event;
use crate::string::LuaString;
use crate::table::{Cell, DEAD_KEY, Node, Table};
use crate::value::{SlotExt, Tag, Value};

/// The number of entries by which prefetching is ahead of the visit.
pub(super) const SOON: usize = 12;
// The marks of its lines tell whether a table may be marked.
const _: () = assert!(size_of::<Table>() + u8::MAX as usize * size_of::<Value>() <= SMALL_MAX);

/// Number of entries that are visited between two checks whether to stop.
pub(super) const NODES_BETWEEN_LOOKS: usize = if cfg!(test) { 4 } else { 4096 };

impl Marker {
    /// Returns the weakness of a table that has a metatable word.
    pub(crate) unsafe fn weakness(&mut self, t: *mut Table) -> Weakness {
        if (*t).meta & 1 != 0 {
            return Weakness::None;
        }
        let meta = std::ptr::with_exposed_provenance_mut::<Table>((*t).meta);
        if (*meta).absent & 1 << Event::Mode as u8 != 0 {
            return Weakness::None;
        }
        let mode = Table::get_str(meta, self.mode_name);
        if mode.is_nil() {
            // A later store of the field clears the bit, as the table has this flag.
            (*meta).header.flags |= GcHeader::IS_META;
            (*meta).absent |= 1 << Event::Mode as u8;
        }
        if !mode.is_string() {
            return Weakness::None;
        }
        let mode = LuaString::bytes(mode.as_string());
        match (mode.contains(&b'k'), mode.contains(&b'v')) {
            (false, false) => Weakness::None,
            (false, true) => Weakness::Values,
            (true, false) => Weakness::Keys,
            (true, true) => Weakness::Both,
        }
    }

    /// Queues a weak table. The caller traces its own references and buffers.
    pub(crate) unsafe fn trace_weak(&mut self, t: *mut Table, weakness: Weakness) {
        // Stores before the visit need not be logged.
        (*t).header.flags &= !GcHeader::UNLOGGED;
        let queue = match weakness {
            Weakness::None => unreachable!("the caller has checked"),
            Weakness::Keys => &mut self.weak.ephemerons,
            Weakness::Values | Weakness::Both => &mut self.weak.values,
        };
        if !try_push(queue, t) {
            self.lose();
        }
    }

    /// Visits a part of a queued table with weak keys and strong values. Returns false if there is
    /// none.
    pub(super) unsafe fn visit_ephemerons(&mut self) -> bool {
        let mut visit = if let Some(visit) = self.weak.ephemerons_visit.take() {
            visit
        } else if let Some(t) = self.weak.ephemerons.pop() {
            match self.begin_visit(t, Weakness::Keys) {
                Some(visit) => visit,
                None => return true,
            }
        } else if self.weak.again.0 < self.weak.again.1 {
            let table = self.weak.unreached[self.weak.again.0];
            self.weak.again.0 += 1;
            let part = Part::Nodes;
            let weakness = Weakness::Keys;
            Visit { table, weakness, part, next: 0, has_unreached: true, is_doubtful: false }
        } else {
            return false;
        };
        let (t, first) = (visit.table, visit.next);
        let count = trace::node_count(t);
        let end = count.min(first + PART);
        for i in first..end {
            let n = (*t).nodes.add(i);
            if i + SOON < count {
                look_ahead(key(n.add(SOON)));
            }
            if trace::is_empty(n) {
                kill(n);
            } else if self.is_cleared(key(n)) {
                visit.has_unreached = self.list_unreached(&visit);
            } else {
                self.ephemeron_value(raw_value(n));
            }
        }
        self.work += PART_WORK;
        if end < count {
            visit.next = end;
            self.weak.ephemerons_visit = Some(visit);
        }
        true
    }

    /// Begins the visit of a queued table of this weakness, or of another one that is in the same
    /// queue. Returns `None` if the program has changed the weakness, and queues the table again.
    unsafe fn begin_visit(&mut self, t: *mut Table, expected: Weakness) -> Option<Visit> {
        let weakness = if (*t).meta == 0 { Weakness::None } else { self.weakness(t) };
        // From here on stores are reported. Before, there may have been a new buffer or metatable.
        (*t).header.flags |= GcHeader::UNLOGGED;
        let before = std::mem::replace(&mut self.recount, true);
        trace::visit_table_frame(t, self);
        self.recount = before;
        if weakness == Weakness::None {
            self.trace_entries(t);
            return None;
        }
        if (weakness == Weakness::Keys) != (expected == Weakness::Keys) {
            self.trace_weak(t, weakness);
            return None;
        }
        let mut part = Part::Fields;
        if weakness == Weakness::Keys {
            if self.reached.is_none() {
                self.reached = Some(Vec::new());
            }
            // Fields and elements have keys that are values, not objects.
            trace::visit_fields(t, self);
            self.trace_array(t);
            part = Part::Nodes;
        }
        let (has_unreached, is_doubtful) = (false, false);
        Some(Visit { table: t, weakness, part, next: 0, has_unreached, is_doubtful })
    }

    /// Lists the table as one with keys that are not marked, unless it is listed.
    unsafe fn list_unreached(&mut self, visit: &Visit) -> bool {
        if !visit.has_unreached {
            let list = match visit.weakness {
                Weakness::Keys => &mut self.weak.unreached,
                _ => &mut self.weak.unreached_both,
            };
            if !try_push(list, visit.table) {
                self.lose();
            }
        }
        true
    }

    /// Visits a part of a queued table with weak values. Returns false if there is none.
    pub(super) unsafe fn visit_values(&mut self) -> bool {
        let mut visit = if let Some(visit) = self.weak.values_visit.take() {
            visit
        } else if let Some(t) = self.weak.values.pop() {
            match self.begin_visit(t, Weakness::Values) {
                Some(visit) => visit,
                None => return true,
            }
        } else {
            return false;
        };
        let (t, first) = (visit.table, visit.next);
        let (count, end) = match visit.part {
            Part::Fields => {
                let count = if (*t).shape.is_null() { 0 } else { (*(*t).shape).count as usize };
                (count, count)
            }
            Part::Array if trace::any_array(t).0.is_null() => (0, 0),
            Part::Array => ((*t).array_len as usize, first + PART),
            Part::Nodes => (trace::node_count(t), first + PART),
        };
        let end = end.min(count);
        match visit.part {
            Part::Fields => {
                for i in 0..end {
                    self.visit_value((*t).fields.add(i).get(), &mut visit, i);
                }
            }
            Part::Array => {
                let (bits, tags) = trace::any_array(t);
                if !bits.is_null() {
                    for i in first..end {
                        if i + SOON < count {
                            look_ahead(Value::from_parts(*bits.add(i + SOON), *tags.add(i + SOON)));
                        }
                        self.visit_value(
                            Value::from_parts(*bits.add(i), *tags.add(i)),
                            &mut visit,
                            i,
                        );
                    }
                }
            }
            Part::Nodes => {
                for i in first..end {
                    let n = (*t).nodes.add(i);
                    if i + SOON < count {
                        look_ahead(raw_value(n.add(SOON)));
                    }
                    if trace::is_empty(n) {
                        kill(n);
                        continue;
                    }
                    // A string is marked as a key if its value is: see the clearing of places.
                    let k = key(n);
                    if visit.weakness == Weakness::Values
                        || k.is_string() && !self.is_cleared(raw_value(n))
                    {
                        self.value(k);
                    } else if !k.is_string() && self.is_cleared(k) {
                        visit.has_unreached = self.list_unreached(&visit);
                    }
                    self.visit_value(raw_value(n), &mut visit, i);
                }
            }
        }
        self.work += PART_WORK;
        visit.next = end;
        if end >= count {
            visit.next = 0;
            visit.part = match visit.part {
                Part::Fields => Part::Array,
                Part::Array => Part::Nodes,
                Part::Nodes => return true,
            };
        }
        self.weak.values_visit = Some(visit);
        true
    }

    /// Notes the place of a weak value that is not marked, and of a cell.
    #[inline]
    unsafe fn visit_value(&mut self, v: Value, visit: &mut Visit, index: usize) {
        if v.tag() != Tag::CELL && !self.is_cleared(v) {
            return;
        }
        if v.tag() == Tag::CELL && (*v.as_ptr::<Cell>()).header.aux == Cell::RELIED_ON {
            // Frames of machine code may hold its value where it is not scanned.
            return self.value(v);
        }
        let weak = &mut self.weak;
        let place = Place { table: visit.table, part: visit.part, index: index as u32 };
        let mut noted = weak.places.push(place);
        if !visit.is_doubtful {
            visit.is_doubtful = true;
            noted &= try_push(&mut weak.doubtful, (visit.table, visit.weakness));
        }
        if !noted {
            self.lose();
        }
    }

    /// Visits tables again whose weakness has changed since they were visited.
    pub(super) unsafe fn revisit_changed(&mut self) {
        let changed = |marker: &mut Marker, t: *mut Table, before: Weakness| {
            let now = if (*t).meta == 0 { Weakness::None } else { marker.weakness(t) };
            if now != before {
                marker.trace(t.cast());
            }
        };
        for i in 0..self.weak.unreached.len() {
            changed(self, self.weak.unreached[i], Weakness::Keys);
        }
        for i in 0..self.weak.unreached_both.len() {
            changed(self, self.weak.unreached_both[i], Weakness::Both);
        }
        for i in 0..self.weak.doubtful.len() {
            let (t, before) = self.weak.doubtful[i];
            changed(self, t, before);
        }
    }

    /// Returns whether a reference of a weak table is to be cleared. Strings are values: they are
    /// marked instead.
    pub(super) unsafe fn is_cleared(&mut self, v: Value) -> bool {
        if !v.is_collectable() {
            return false;
        }
        if v.is_string() {
            self.object(v.as_header());
            return false;
        }
        if v.is_table() && line_mark(v.as_header().cast()) != self.mark {
            // Tables are never large, and all lines of a marked one are marked.
            debug_assert!(!self.is_marked(v.as_header()));
            return true;
        }
        !self.is_marked(v.as_header())
    }
}

pub(super) unsafe fn key(n: *mut Node) -> Value {
    Value::from_parts((*n).key_bits, (*n).key_tag)
}

/// Prefetches the memory that says whether `v` is marked. Most entries that are cleared refer to
/// tables in lines without a live object, whose marks lie together.
#[inline(always)]
pub(super) unsafe fn look_ahead(v: Value) {
    if v.is_table() {
        prefetch_line_mark(v.as_header().cast());
    } else if v.is_collectable() {
        super::mark::prefetch(v.as_header());
    }
}

/// Returns the value, or the cell that holds it.
pub(super) unsafe fn raw_value(n: *mut Node) -> Value {
    Value::from_parts((*n).value_bits, (*n).value_tag)
}

pub(super) unsafe fn empty(n: *mut Node) {
    (*n).value_tag = Tag::NIL;
    (*n).value_bits = 0;
}

/// Kills the key of an empty node: it compares equal to no value, but `next` still uses its
/// address.
pub(super) unsafe fn kill(n: *mut Node) {
    if (*n).key_tag.is_collectable() {
        (*n).key_tag = DEAD_KEY;
    }
}
