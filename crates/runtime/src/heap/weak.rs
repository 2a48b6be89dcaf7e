//! Weak tables and ephemerons (manual 2.5.4).

use hashbrown::HashMap;

use super::block::{SMALL_MAX, line_mark, prefetch_line_mark};
use super::growth::try_push;
use super::marker::Marker;
use super::memory::LARGE;
use super::trace::{self, Visitor};
use crate::header::GcHeader;
use crate::meta::Event;
use crate::reserve;
use crate::string::LuaString;
use crate::table::{Cell, DEAD_KEY, Node, Table, WATCHED};
use crate::value::{SlotExt, Tag, Value};

/// The weakness that a table's metatable requests with `__mode`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weakness {
    None,
    Values,
    Keys,
    Both,
}

/// How many entries ahead of the one that is visited memory is prefetched.
const SOON: usize = 12;
// The marks of its lines tell whether a table may be marked.
const _: () = assert!(size_of::<Table>() + u8::MAX as usize * size_of::<Value>() <= SMALL_MAX);

/// Number of rounds over all ephemeron tables before entries wait for their keys.
const ROUNDS: usize = 4;
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

    /// Traces the entries of a weak table. The caller traces its own references and buffers.
    pub(crate) unsafe fn trace_weak(&mut self, t: *mut Table, weakness: Weakness) {
        if !self.atomic {
            // Which entries are weak is known only when everything else is marked. Stores before
            // that need not be logged.
            (*t).header.flags &= !GcHeader::UNLOGGED;
            self.defer(t.cast());
        }
        match weakness {
            Weakness::None => unreachable!("the caller has checked"),
            Weakness::Values => {
                self.visit_keys(t);
                if self.atomic {
                    self.weak_values.push(t);
                }
            }
            Weakness::Keys => {
                if self.atomic {
                    self.trace_ephemerons(t, false);
                } else {
                    // Fields and elements have keys that are values, not objects.
                    trace::visit_fields(t, self);
                    trace::visit_array(t, 0, usize::MAX, self);
                }
            }
            Weakness::Both => {
                if self.atomic {
                    self.all_weak.push(t);
                }
            }
        }
    }

    /// Marks the values of an ephemeron table whose keys are reached, and lists the table if it has
    /// other keys. Returns whether anything was marked.
    unsafe fn trace_ephemerons(&mut self, t: *mut Table, backwards: bool) -> bool {
        let before = self.gray.len();
        let mut unreached = false;
        trace::visit_fields(t, self);
        trace::visit_array(t, 0, usize::MAX, self);
        let count = trace::node_count(t);
        for i in 0..count {
            let at = if backwards { count - 1 - i } else { i };
            let n = (*t).nodes.add(at);
            let soon = if backwards { at.checked_sub(SOON) } else { Some(at + SOON) };
            if let Some(soon) = soon.filter(|soon| *soon < count) {
                look_ahead(key((*t).nodes.add(soon)));
            }
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                // The other entries are visited the next time.
                unreached = true;
                break;
            }
            if trace::is_empty(n) {
                kill(n);
            } else if self.is_cleared(key(n)) {
                unreached = true;
            } else {
                self.value(raw_value(n));
            }
        }
        if unreached {
            self.ephemerons.push(t);
        }
        self.gray.len() > before
    }

    /// Marks the values of all ephemerons whose keys are reachable. Returns false when the
    /// collector had to stop.
    pub(crate) unsafe fn converge(&mut self) -> bool {
        if !self.propagate_all() {
            return false;
        }
        // Most tables converge in a round or two, as the direction alternates for chains within
        // one.
        for round in 0..ROUNDS {
            let tables = std::mem::take(&mut self.ephemerons);
            let mut changed = false;
            for (i, &t) in tables.iter().enumerate() {
                if self.trace_ephemerons(t, round % 2 == 0) {
                    changed = true;
                    self.propagate_all();
                }
                if self.stop.is_due() {
                    self.ephemerons.extend(&tables[i + 1..]);
                    return false;
                }
            }
            if !changed {
                return true;
            }
        }
        if !self.may_converge_by_key() {
            self.lose();
            return false;
        }
        let done = self.converge_by_key();
        self.reached = None;
        done
    }

    /// Returns whether there is memory for [`Marker::converge_by_key`].
    unsafe fn may_converge_by_key(&self) -> bool {
        const PER_ENTRY: usize = 64;
        let entries: usize = self.ephemerons.iter().map(|&t| trace::node_count(t)).sum();
        entries * PER_ENTRY < LARGE || reserve::system_has(entries * PER_ENTRY)
    }

    /// Does the same in linear time: the values of an unreached key wait, in a list that a map
    /// finds by the key, until the key is reached.
    unsafe fn converge_by_key(&mut self) -> bool {
        let mut first = HashMap::<usize, usize, foldhash::fast::FixedState>::default();
        let mut waiting = Vec::<(Value, Option<usize>)>::new();
        let mut listed = 0;
        self.reached = Some(Vec::new());
        loop {
            // Tables that are reached meanwhile are listed as well.
            while listed < self.ephemerons.len() {
                let t = self.ephemerons[listed];
                listed += 1;
                for i in 0..trace::node_count(t) {
                    let n = (*t).nodes.add(i);
                    if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                        return false;
                    }
                    if trace::is_empty(n) {
                        continue;
                    }
                    if self.is_cleared(key(n)) {
                        let v = raw_value(n);
                        if v.is_collectable() && !self.is_marked(v.as_header()) {
                            let next = first.insert(key(n).as_header().addr(), waiting.len());
                            waiting.push((v, next));
                        }
                    } else {
                        // The key was reached after its table was listed.
                        self.value(raw_value(n));
                    }
                }
            }
            if !self.propagate_all() {
                return false;
            }
            let reached = self.reached.replace(Vec::new()).expect("set by the caller's caller");
            for (i, o) in reached.iter().enumerate() {
                if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                    return false;
                }
                let mut next = first.remove(&o.addr());
                while let Some(at) = next {
                    self.value(waiting[at].0);
                    next = waiting[at].1;
                }
            }
            if reached.is_empty() && !self.has_gray() && listed == self.ephemerons.len() {
                return true;
            }
        }
    }

    /// Restores the state before the atomic step, so that the cycle continues. The next atomic step
    /// visits the weak tables again, and the thread that runs now: its stack was scanned, but
    /// changes without a barrier, also if another thread runs by then.
    pub(crate) fn leave_atomic(&mut self) {
        self.atomic = false;
        if !self.running.is_null() {
            self.defer(self.running.cast());
        }
        let lists = [&mut self.weak_values, &mut self.ephemerons, &mut self.all_weak];
        let mut logged = true;
        for t in lists.into_iter().flat_map(|list| list.drain(..)) {
            logged &= try_push(&mut self.deferred, t.cast());
        }
        if !logged {
            self.lose();
        }
    }

    /// Returns whether a reference of a weak table is to be cleared. Strings are values: they are
    /// marked instead.
    unsafe fn is_cleared(&mut self, v: Value) -> bool {
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

    /// Removes the entries of `t` whose values are not reached. Returns whether one with a string
    /// key was removed.
    pub(crate) unsafe fn clear_values(&mut self, t: *mut Table) -> bool {
        let mut changed = false;
        if !(*t).shape.is_null() {
            for i in 0..(*(*t).shape).count as usize {
                let place = (*t).fields.add(i);
                if self.is_cleared(place.get()) {
                    place.put(Value::NIL);
                    changed = true;
                }
            }
        }
        self.clear_array(t);
        let count = trace::node_count(t);
        for i in 0..count {
            let n = (*t).nodes.add(i);
            if i + SOON < count {
                look_ahead(raw_value(n.add(SOON)));
            }
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                break;
            }
            if trace::is_empty(n) {
                kill(n);
            } else if (*n).value_tag == Tag::CELL {
                changed |= self.clear_cell(n);
            } else if self.is_cleared(raw_value(n)) {
                changed = true;
                empty(n);
                kill(n);
            }
        }
        changed
    }

    /// Clears the values of the listed weak tables from these positions on. Returns whether a cache
    /// of metatable chains may be invalid now.
    pub(super) unsafe fn clear_listed_values(&mut self, weak_from: usize, all_from: usize) -> bool {
        let mut changed = false;
        let (weak_values, all_weak) =
            (std::mem::take(&mut self.weak_values), std::mem::take(&mut self.all_weak));
        for &t in weak_values[weak_from..].iter().chain(&all_weak[all_from..]) {
            changed |= self.clear_values(t) && (*t).header.flags & WATCHED != 0;
        }
        // Strings are marked without becoming gray, so the lists have not grown meanwhile.
        (self.weak_values, self.all_weak) = (weak_values, all_weak);
        changed
    }

    unsafe fn clear_array(&mut self, t: *mut Table) {
        let (bits, tags) = trace::any_array(t);
        if bits.is_null() {
            return;
        }
        for i in 0..(*t).array_len as usize {
            if i + SOON < (*t).array_len as usize {
                look_ahead(Value::from_parts(*bits.add(i + SOON), *tags.add(i + SOON)));
            }
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                break;
            }
            if self.is_cleared(Value::from_parts(*bits.add(i), *tags.add(i))) {
                *tags.add(i) = Tag::NIL;
            }
        }
        // The length remains a border.
        while (*t).array_len > 0 && *tags.add((*t).array_len as usize - 1) == Tag::NIL {
            (*t).array_len -= 1;
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

    /// Visits the keys of entries that are not empty, and kills the others.
    unsafe fn visit_keys(&mut self, t: *mut Table) {
        for i in 0..trace::node_count(t) {
            let n = (*t).nodes.add(i);
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                // The caller has listed the table, so it is visited again.
                break;
            }
            if trace::is_empty(n) {
                kill(n);
            } else {
                self.value(key(n));
            }
        }
    }

    /// Removes the entries of `t` whose keys are not reached.
    pub(crate) unsafe fn clear_keys(&mut self, t: *mut Table) {
        let count = trace::node_count(t);
        for i in 0..count {
            let n = (*t).nodes.add(i);
            if i + SOON < count {
                look_ahead(key(n.add(SOON)));
            }
            if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                break;
            }
            if !trace::is_empty(n) && self.is_cleared(key(n)) {
                empty(n);
            }
            if trace::is_empty(n) {
                kill(n);
            }
        }
    }
}

unsafe fn key(n: *mut Node) -> Value {
    Value::from_parts((*n).key_bits, (*n).key_tag)
}

/// Prefetches what tells whether `v` is marked. Most entries that are cleared refer to tables in
/// lines without a live object, whose marks lie together.
#[inline(always)]
unsafe fn look_ahead(v: Value) {
    if v.is_table() {
        prefetch_line_mark(v.as_header().cast());
    } else if v.is_collectable() {
        super::mark::prefetch(v.as_header());
    }
}

/// Returns the value, or the cell that holds it.
unsafe fn raw_value(n: *mut Node) -> Value {
    Value::from_parts((*n).value_bits, (*n).value_tag)
}

unsafe fn empty(n: *mut Node) {
    (*n).value_tag = Tag::NIL;
    (*n).value_bits = 0;
}

/// Kills the key of an empty node: it compares equal to no value, but `next` still uses its
/// address.
unsafe fn kill(n: *mut Node) {
    if (*n).key_tag.is_collectable() {
        (*n).key_tag = DEAD_KEY;
    }
}
