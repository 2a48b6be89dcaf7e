//! Metatables of tables.

use perilune_runtime::meta::Event;

use super::Lower;
use crate::tier2::ir::{Metatable, State, Value};

impl Lower<'_, '_> {
    /// Gives a table a metatable.
    pub(super) fn set_metatable(&mut self, table: Value, metatable: Metatable, state: State) {
        let (other, marks) = (self.exit(state), self.marks_metatables());
        let (table, meta) = (self.bits(table), self.bits(metatable.table()));
        match metatable {
            Metatable::WithIndex(_) => self.emit().set_class(table, meta, marks, other),
            _ => self.emit().set_metatable(table, meta, marks, other),
        }
    }

    pub(super) fn guard_metatable(&mut self, metatable: Metatable, state: State) {
        let (other, marks) = (self.exit(state), self.marks_metatables());
        let table = self.bits(metatable.table());
        match metatable {
            Metatable::WithIndex(_) => self.emit().guard_class(table, marks, other),
            _ => self.emit().guard_metatable(table, marks, other),
        }
    }

    /// Returns whether code marks tables that become metatables. Quiet loops exit instead: they
    /// rely on the fact that no cache comes to depend on further tables.
    fn marks_metatables(&self) -> bool {
        self.last.is_none()
    }

    pub(super) fn guard_no_new_index(&mut self, metatable: Metatable, state: State) {
        if !matches!(metatable, Metatable::WithIndex(_)) {
            let other = self.exit(state);
            let table = self.bits(metatable.table());
            self.emit().guard_event_absent(table, Event::NewIndex, other);
        }
    }
}
