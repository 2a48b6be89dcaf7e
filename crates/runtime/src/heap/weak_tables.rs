//! The record of a cycle's weak tables.

use super::segments::Segments;
use crate::header::GcHeader;
use crate::table::Table;

/// The weakness that a table's metatable requests with `__mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weakness {
    None,
    Values,
    Keys,
    Both,
}

/// The work that is left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// More objects or tables have to be traced, visited or looked up.
    Some,
    /// Only the remaining values have to be found by a map from their keys.
    ByKey,
    Nothing,
}

/// The place of a value in a weak table.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) table: *mut Table,
    pub(super) part: Part,
    pub(super) index: u32,
}

/// A part of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Fields,
    Array,
    Nodes,
}

/// A visit of a weak table that has begun.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub(super) table: *mut Table,
    pub(super) weakness: Weakness,
    pub(super) part: Part,
    /// The first entry of the part that was not visited.
    pub(super) next: usize,
    /// Whether the table is in the list of those with keys that are not marked.
    pub(super) has_unreached: bool,
    /// Whether it is in the list of those with values that are not marked.
    pub(super) is_doubtful: bool,
}

/// The weak tables that a cycle has reached.
#[derive(Default)]
pub(crate) struct WeakTables {
    /// Tables with weak keys and strong values to be visited.
    pub(super) ephemerons: Vec<*mut Table>,
    /// Tables with weak values to be visited.
    pub(super) values: Vec<*mut Table>,
    pub(super) ephemerons_visit: Option<Visit>,
    pub(super) values_visit: Option<Visit>,
    /// Tables with weak keys and strong values that had keys without a mark when they were
    /// visited.
    pub(super) unreached: Vec<*mut Table>,
    /// The same for tables with weak keys and values.
    pub(super) unreached_both: Vec<*mut Table>,
    /// Tables that had values without a mark, and how weak they were.
    pub(super) doubtful: Vec<(*mut Table, Weakness)>,
    /// The places of these values.
    pub(super) places: Segments<Place>,
    /// The tables of `unreached` from the first to the second number are to be visited again.
    pub(super) again: (usize, usize),
    /// The number of such rounds of visits.
    pub(super) rounds: u8,
    /// How many nodes of the table whose keys are being removed were looked at.
    pub(super) cleared: usize,
}

impl WeakTables {
    /// Returns whether there are tables to be visited.
    pub(super) fn has_visits(&self) -> bool {
        !self.ephemerons.is_empty()
            || !self.values.is_empty()
            || self.ephemerons_visit.is_some()
            || self.values_visit.is_some()
            || self.again.0 < self.again.1
    }

    /// Forgets all tables.
    pub(super) unsafe fn clear(&mut self) {
        for &t in self.unreached.iter().chain(&self.unreached_both) {
            (*t).header.flags &= !GcHeader::WEAK;
        }
        self.ephemerons.clear();
        self.values.clear();
        self.ephemerons_visit = None;
        self.values_visit = None;
        self.unreached.clear();
        self.unreached_both.clear();
        self.doubtful.clear();
        self.places.truncate(0);
        self.again = (0, 0);
        self.rounds = 0;
        self.cleared = 0;
    }

    /// Makes traversals skip entries with keys that are not marked, as marking has ended.
    pub(super) unsafe fn hide_unreached(&mut self) {
        for &t in self.unreached.iter().chain(&self.unreached_both) {
            (*t).header.flags |= GcHeader::WEAK;
        }
    }
}

impl WeakTables {
    /// Returns whether there may be entries to be removed.
    pub(super) fn may_lose_entries(&self) -> bool {
        !self.places.is_empty() || !self.doubtful.is_empty() || self.being_cleared().is_some()
    }

    /// Returns the table whose keys are being removed, if there is one.
    pub(super) fn being_cleared(&self) -> Option<*mut Table> {
        self.unreached.last().or(self.unreached_both.last()).copied()
    }
}
