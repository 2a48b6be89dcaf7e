//! Elements of arrays that are tables, such as the rows of a matrix.
//!
//! A loop over a row, with accesses such as `m[i][j]`, looks up the row in each iteration. A store
//! to `m[i][j]` does not change which table `m[i]` is, unless `m` is one of its own rows. This is
//! guarded once, and the row stays known.

use super::ir::Value;
use crate::hash::HashMap;

/// A key: a value (`None`: zero), and an integer that is added to it.
pub(super) type Key = (Option<Value>, i64);

/// An element that has been loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) table: Value,
    pub(super) key: Key,
    /// Whether the value may come from another table, by `__index`.
    pub(super) may_be_inherited: bool,
}

/// The elements that are known to be tables.
#[derive(Clone, Default)]
pub(super) struct Rows {
    /// The elements that have been loaded, by the values that were loaded.
    loaded: HashMap<Value, Loaded>,
    /// The elements that guards have found to be tables, by table and key.
    tables: HashMap<(Value, Key), Value>,
    /// Pairs of tables, in order, that are not the same.
    distinct: HashMap<(Value, Value), ()>,
}

impl Rows {
    /// Discards all elements.
    pub(super) fn forget(&mut self) {
        self.loaded.clear();
        self.tables.clear();
    }

    /// Discards the elements that no guard has found to be tables.
    pub(super) fn forget_others(&mut self) {
        self.loaded.clear();
    }

    /// Returns an element that is known to be a table.
    pub(super) fn get(&self, table: Value, key: Key) -> Option<Value> {
        self.tables.get(&(table, key)).copied()
    }

    /// Returns the tables that have such elements, in order.
    pub(super) fn owners(&self) -> Vec<Value> {
        let mut owners: Vec<Value> = self.tables.keys().map(|&(table, _)| table).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Records the value of an element.
    pub(super) fn note_loaded(&mut self, value: Value, element: Loaded) {
        self.loaded.insert(value, element);
    }

    /// Returns the element that a value was loaded from, if it still has the value.
    pub(super) fn loaded(&self, value: Value) -> Option<Loaded> {
        self.loaded.get(&value).copied()
    }

    /// Records that a guard has found the value of an element, which is not inherited, to be a
    /// table, and is `guarded` since.
    pub(super) fn note_table(&mut self, value: Value, guarded: Value) {
        if let Some(Loaded { table, key, .. }) = self.loaded.remove(&value) {
            self.tables.insert((table, key), guarded);
        }
    }

    /// Returns whether two tables are known not to be the same.
    pub(super) fn are_distinct(&self, one: Value, other: Value) -> bool {
        self.distinct.contains_key(&(one.min(other), one.max(other)))
    }

    /// Records that two tables are not the same.
    pub(super) fn note_distinct(&mut self, one: Value, other: Value) {
        self.distinct.insert((one.min(other), one.max(other)), ());
    }

    /// Discards the elements that a store to this element may change. Returns whether a table was
    /// among them.
    pub(super) fn store(&mut self, table: Value, key: Key) -> bool {
        let distinct = std::mem::take(&mut self.distinct);
        let stays = |of: Value, other: Key| match of == table {
            true => other.0 == key.0 && other.1 != key.1,
            false => distinct.contains_key(&(of.min(table), of.max(table))),
        };
        let before = self.tables.len();
        self.loaded.retain(|_, loaded| stays(loaded.table, loaded.key));
        self.tables.retain(|&(of, other), _| stays(of, other));
        self.distinct = distinct;
        self.tables.len() != before
    }

    /// Returns whether the elements that were known `before` to be tables are still known.
    pub(super) fn confirm(&self, before: &Rows) -> bool {
        before.tables.iter().all(|(element, v)| self.tables.get(element) == Some(v))
    }

    /// Keeps the facts that are known on both paths.
    pub(super) fn meet(&mut self, other: &Rows) {
        self.loaded.retain(|value, element| other.loaded.get(value) == Some(element));
        self.tables.retain(|element, value| other.tables.get(element) == Some(value));
        self.distinct.retain(|pair, ()| other.distinct.contains_key(pair));
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;

    fn element(table: Value, key: Key) -> Loaded {
        Loaded { table, key, may_be_inherited: false }
    }

    #[test]
    fn a_store_forgets_what_it_may_change() {
        let [m, n, i, j, row, other] = [0, 1, 2, 3, 4, 5].map(Value::new);
        let mut rows = Rows::default();
        rows.note_loaded(row, element(m, (Some(i), 0)));
        assert_eq!(rows.get(m, (Some(i), 0)), None);
        rows.note_table(row, row);
        assert_eq!(rows.get(m, (Some(i), 0)), Some(row));
        // other keys of the same table
        assert!(!rows.store(m, (Some(i), 1)));
        assert_eq!(rows.owners(), [m]);
        rows.note_distinct(n, m);
        assert!(!rows.store(n, (Some(i), 0)));
        assert!(rows.are_distinct(m, n) && !rows.are_distinct(m, other));
        assert!(rows.store(other, (None, 1)));
        assert_eq!(rows.get(m, (Some(i), 0)), None);
        rows.note_loaded(row, element(m, (Some(i), 0)));
        rows.note_table(row, row);
        assert!(rows.store(m, (Some(j), 1)));
        // a value that was loaded before a store
        rows.note_loaded(row, element(m, (Some(i), 0)));
        assert!(!rows.store(m, (Some(i), 0)));
        rows.note_table(row, row);
        assert_eq!(rows.owners(), []);
    }

    #[test]
    fn a_merge_point_knows_what_both_ways_know() {
        let [m, n, row] = [0, 1, 2].map(Value::new);
        let mut one = Rows::default();
        one.note_loaded(row, element(m, (None, 1)));
        one.note_table(row, row);
        one.note_distinct(m, n);
        let mut other = one.clone();
        one.meet(&other);
        assert_eq!(one.get(m, (None, 1)), Some(row));
        assert!(one.are_distinct(n, m));
        other.forget();
        one.meet(&other);
        assert_eq!(one.get(m, (None, 1)), None);
        assert!(one.are_distinct(n, m));
    }
}
