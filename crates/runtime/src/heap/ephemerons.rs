//! Ephemerons: the value of a weak key becomes reachable when the key is reached.
//!
//! Visits of the tables find most values. After that, each object that is reached is looked up in
//! the tables that have unmarked keys, since a table is itself the map from its keys to their
//! values. The time is therefore linear, even with long chains of ephemerons, and the atomic step
//! looks up only the objects that it reaches itself. If there are so many tables that visiting them
//! again takes less time, they are visited again instead, a few times at most; then a map of all
//! entries is built.

use hashbrown::HashMap;

use super::clearing::is_new;
use super::mark::{PART, PART_WORK, WORK_BETWEEN_LOOKS};
use super::marker::Marker;
use super::memory::LARGE;
use super::trace::{self, Visitor};
use super::weak::{NODES_BETWEEN_LOOKS, key, raw_value};
use super::weak_tables::Left;
use crate::header::{GcHeader, Kind};
use crate::reserve;
use crate::table::Table;
use crate::value::{Tag, Value};

/// How often all ephemeron tables are visited again before entries wait for their keys.
const ROUNDS: u8 = 4;
/// Up to this many tables, objects are always looked up.
const FEW: usize = 8;

impl Marker {
    /// Traces gray objects, and then visits weak tables and looks up what was reached, until
    /// `budget` bytes were visited or nothing is left.
    pub(super) unsafe fn converge_some(&mut self, budget: usize) -> Left {
        let end = self.work.saturating_add(budget);
        let mut by_key = false;
        let has_some = |reached: &Vec<*mut GcHeader>| !reached.is_empty();
        loop {
            // The visits may have left objects in the queue.
            self.propagate(end.saturating_sub(self.work));
            if self.has_gray() {
                return Left::Some;
            }
            let is_left =
                self.weak.has_visits() || !by_key && self.reached.as_ref().is_some_and(has_some);
            if is_left && self.work >= end {
                return Left::Some;
            }
            if self.visit_ephemerons() {
                by_key = false;
                continue;
            }
            if !by_key && self.reached.as_ref().is_some_and(has_some) {
                by_key = !self.follow_reached();
                continue;
            }
            if !self.visit_values() {
                return if by_key { Left::ByKey } else { Left::Nothing };
            }
        }
    }

    /// Does the same as [`Marker::converge_some`] until nothing is left. Returns false when the
    /// collector had to stop.
    pub(crate) unsafe fn converge(&mut self) -> bool {
        loop {
            match self.converge_some(WORK_BETWEEN_LOOKS) {
                Left::Some => {}
                Left::ByKey => {
                    if !self.converge_by_key() {
                        return false;
                    }
                }
                Left::Nothing => return !self.stop.is_due(),
            }
            if self.stop.is_due() {
                return false;
            }
        }
    }

    /// Looks up some of the objects that were reached, or has the tables visited again. Returns
    /// false if neither is worthwhile.
    unsafe fn follow_reached(&mut self) -> bool {
        let Some(reached) = &mut self.reached else { return true };
        let tables = &self.weak.unreached;
        if tables.is_empty() {
            reached.clear();
            return true;
        }
        let entries: usize = tables.iter().map(|&t| trace::node_count(t)).sum();
        if reached.len() * tables.len() > entries {
            if self.weak.rounds < ROUNDS {
                self.weak.rounds += 1;
                reached.clear();
                self.visit_again();
                return true;
            }
            if tables.len() > FEW {
                return false;
            }
        }
        let mut lookups = 0;
        while lookups < PART
            && let Some(o) = self.reached.as_mut().and_then(Vec::pop)
        {
            let Some(k) = key_of(o) else { continue };
            for i in 0..self.weak.unreached.len() {
                lookups += 1;
                if let Some(v) = Table::raw_value_of_object(self.weak.unreached[i], k) {
                    self.ephemeron_value(v);
                }
            }
        }
        self.work += PART_WORK * (1 + (lookups + self.weak.unreached.len()) / PART);
        true
    }

    /// Has all tables with keys that are not marked visited again.
    unsafe fn visit_again(&mut self) {
        self.weak.again = (0, self.weak.unreached.len());
    }

    /// Marks the value of a key that is marked. A new value belongs to a key that the program uses,
    /// and is not one of the objects that the phase Resurrect visits.
    #[inline]
    pub(super) unsafe fn ephemeron_value(&mut self, v: Value) {
        if v.is_collectable() && !self.is_marked(v.as_header()) {
            if self.resurrects && is_new(v.as_header()) {
                return;
            }
            self.value(v);
        }
    }

    /// Returns whether there is memory for a map of all entries.
    unsafe fn may_converge_by_key(&self) -> bool {
        const PER_ENTRY: usize = 64;
        let entries: usize = self.weak.unreached.iter().map(|&t| trace::node_count(t)).sum();
        entries * PER_ENTRY < LARGE || reserve::system_has(entries * PER_ENTRY)
    }

    /// Marks all values in linear time: the values of an unreached key wait in a list until the key
    /// is reached. A map finds the list by the key. Returns false when the collector had to stop.
    #[cold]
    pub(super) unsafe fn converge_by_key(&mut self) -> bool {
        if !self.may_converge_by_key() {
            self.lose();
            return false;
        }
        let done = self.map_entries();
        if !done {
            // Some of the reached objects have not been looked up.
            self.reached = Some(Vec::new());
            self.visit_again();
        }
        done
    }

    unsafe fn map_entries(&mut self) -> bool {
        let mut first = HashMap::<usize, usize, foldhash::fast::FixedState>::default();
        let mut waiting = Vec::<(Value, Option<usize>)>::new();
        let mut listed = 0;
        self.reached = Some(Vec::new());
        loop {
            // Tables that are reached meanwhile are listed as well.
            while self.visit_ephemerons() {
                if self.stop.is_due() {
                    return false;
                }
            }
            while listed < self.weak.unreached.len() {
                let t = self.weak.unreached[listed];
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
                        self.ephemeron_value(raw_value(n));
                    }
                }
            }
            if !self.propagate_all() {
                return false;
            }
            let reached = self.reached.replace(Vec::new()).expect("set above");
            for (i, o) in reached.iter().enumerate() {
                if i % NODES_BETWEEN_LOOKS == 0 && self.stop.is_due() {
                    return false;
                }
                let mut next = first.remove(&o.addr());
                while let Some(at) = next {
                    self.ephemeron_value(waiting[at].0);
                    next = waiting[at].1;
                }
            }
            if reached.is_empty() && !self.has_gray() && listed == self.weak.unreached.len() {
                return true;
            }
        }
    }
}

/// Returns an object as a key, if it can be one. Strings are values, and never wait.
unsafe fn key_of(o: *mut GcHeader) -> Option<Value> {
    let tag = match (*o).kind {
        Kind::Table => Tag::TABLE,
        Kind::LuaClosure => Tag::FUNCTION,
        Kind::NativeClosure => Tag::NATIVE,
        Kind::Userdata | Kind::Memory => Tag::USERDATA,
        Kind::Thread => Tag::THREAD,
        Kind::String | Kind::Upvalue | Kind::Cell | Kind::Instance | Kind::Shape => return None,
    };
    Some(Value::object(o, tag))
}
