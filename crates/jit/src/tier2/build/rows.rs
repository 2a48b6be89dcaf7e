//! Elements of arrays that are tables, and stores to elements that do not change them.

use perilune_runtime::value::Tag;

use super::Builder;
use crate::codegen::number::Operator;
use crate::entity::RegisterOperands;
use crate::tier2::ir::{Op, Type, Value};
use crate::tier2::rows::{Key, Loaded};

impl Builder<'_> {
    /// Returns a representation of an integer key in which equal keys can be recognized.
    pub(super) fn row_key(&self, key: Value) -> Key {
        if let Some(n) = self.constants.integer(key) {
            return (None, n);
        }
        let origin = self.f.origin(key);
        let sum = self.constants.offsets.get(&origin).copied();
        sum.map_or((Some(origin), 0), |(of, more)| (Some(of), more))
    }

    /// Records that the result of an operation is the sum of a value and a constant.
    pub(super) fn note_sum(&mut self, result: Value, op: Op) {
        let Op::IntArith(operator, a, b, _) = op else { return };
        let (of, more) = match (operator, self.constants.integer(a), self.constants.integer(b)) {
            (Operator::Add, None, Some(n)) => (a, n),
            (Operator::Add, Some(n), None) => (b, n),
            (Operator::Sub, None, Some(n)) => (a, n.wrapping_neg()),
            _ => return,
        };
        if let (Some(of), before) = self.row_key(of) {
            self.constants.offsets.insert(result, (of, before.wrapping_add(more)));
        }
    }

    /// Builds the load of an element by this operation, unless the element is a known table.
    pub(super) fn load_element(&mut self, table: Value, key: Value, op: Op) {
        let (table, key) = (self.f.origin(table), self.row_key(key));
        let target = self.instr(self.pc).ra();
        if let Some(row) = self.known.rows.get(table, key) {
            return self.write(target, row);
        }
        let v = self.value(Type::Any, op);
        self.write(target, v);
        let may_be_inherited = !matches!(op, Op::Element(..));
        self.known.rows.note_loaded(v, Loaded { table, key, may_be_inherited });
    }

    /// Records that a guard has found a value to be a table, if it is an element. In a loop, the
    /// array is guarded to have no metatable if the element may be inherited.
    pub(super) fn note_row(&mut self, value: Value, guarded: Value) {
        let Some(loaded) = self.known.rows.loaded(value) else { return };
        if loaded.may_be_inherited {
            let array = self.refined(loaded.table);
            if !self.guards_rows() || self.f.consult(array) != Type::Is(Tag::TABLE) {
                return;
            }
            let state = self.state();
            self.push(Op::GuardNoMetatable(array, state));
        }
        self.known.rows.note_table(value, guarded);
    }

    /// Returns whether the instruction builds the guards that keep elements known: it does if it is
    /// in a loop that may be quiet.
    fn guards_rows(&self) -> bool {
        (self.quiet.is_some() || self.peel.is_some())
            && !self.source.snapshot.failed.contains(&self.pc.as_u32())
    }

    /// Records a store to an element. In a loop, the table is guarded not to be one of those whose
    /// elements are known.
    pub(super) fn note_element_store(&mut self, table: Value, key: Value) {
        let stored = self.f.origin(table);
        let guards = self.guards_rows();
        for owner in self.known.rows.owners() {
            if owner == stored || self.known.rows.are_distinct(owner, stored) {
                continue;
            }
            if !self.known.is_fresh(owner) && !self.known.is_fresh(stored) {
                let other = self.refined(owner);
                if !guards || self.f.consult(other) != Type::Is(Tag::TABLE) {
                    continue;
                }
                let state = self.state();
                self.push(Op::GuardDistinct(table, other, state));
            }
            self.known.rows.note_distinct(owner, stored);
        }
        let key = self.row_key(key);
        if self.known.rows.store(stored, key) {
            self.noise.add_row();
        }
    }
}
