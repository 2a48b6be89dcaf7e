//! The facts known at the place where code is built: guarded types of values, shapes of tables, and
//! values of fields and upvalues.
//!
//! Guards and loads that these facts make redundant are not built. Facts about memory hold until
//! something is called.

use std::hash::Hash;

use perilune_bytecode::{Instr, Proto};
use perilune_runtime::value::Tag;

use super::ir::Value;
use super::rows::Rows;
use super::shapes::Shapes;
use crate::hash::HashMap;

/// A global: the closure whose upvalue is the environment (`None`: the function's own), the
/// upvalue, and the constant that is the name.
pub(super) type Global = (Option<Value>, usize, usize);

/// A lookup along the metatables of a value.
pub(super) type Lookup = (Wanted, Value);

/// What is looked up along metatables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// A field.
    Field(Name),
    /// The metamethod that an instruction calls, by the address of the instruction.
    Metamethod(*const Instr),
}

/// An entry of the inline cache of an instruction, or the record of the metamethod that it calls:
/// the closure of the function (`None`: the function's own), the address of the instruction, and
/// the number of the entry (`None`: the record).
pub(super) type Entry = (Option<Value>, *const Instr, Option<usize>);

/// A name: the function that has it as a constant, and the constant.
pub(super) type Name = (*const Proto, usize);

/// An upvalue: its closure, or `None` for the function's own, and its number.
pub(super) type Upvalue = (Option<Value>, usize);

/// Facts about values and about memory.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// The values after guards of their types, by the values before the guards.
    guarded: HashMap<Value, Value>,
    /// The equal integers or floats of numbers, by their origins.
    converted: HashMap<(Value, Tag), Value>,
    /// The shapes of tables that guards have compared.
    shapes: HashMap<Value, Shapes>,
    /// The values of fields, by table and slot.
    fields: HashMap<(Value, u32), Value>,
    /// The elements of arrays that are known to be tables.
    pub(super) rows: Rows,
    /// The values of upvalues.
    upvalues: HashMap<Upvalue, Value>,
    /// The values of upvalues that the program never assigns.
    constants: HashMap<Upvalue, Value>,
    /// Whether no debug function had changed such a variable when the code was entered, or later.
    /// If one does so now, the frame is deoptimized.
    constants_hold: bool,
    /// Tables on which no cache relies: neither metatables nor classes.
    unwatched: HashMap<Value, ()>,
    /// Tables that have just been allocated: no other value may be one of them.
    fresh: HashMap<Value, ()>,
    /// Methods and metamethods that were found along the metatables of values. Tables do not have
    /// these fields themselves, as long as their shapes are those that guards have compared.
    lookups: HashMap<Lookup, Value>,
    /// Functions that entries hold. Only the runtime changes entries.
    held: HashMap<Entry, Value>,
    /// Methods of strings, with the epoch of metatables at which they were found. They stay the
    /// same as long as the epoch does.
    methods_of_strings: HashMap<Name, (Value, Value)>,
    /// The current epoch.
    epoch: Option<Value>,
    /// Values of globals.
    globals: HashMap<Global, Value>,
    /// Values of globals that the code speculates to stay the same.
    constant_globals: HashMap<Global, Value>,
    /// Values that guards have found to be the function's own closure.
    own: HashMap<Value, ()>,
    /// The identities that guards have compared: for closures the slots of their methods, for
    /// native functions their numbers in the library.
    methods: HashMap<Value, usize>,
}

impl Known {
    /// Discards all facts about memory, after a call.
    pub(super) fn forget(&mut self) {
        self.shapes.clear();
        self.fields.clear();
        self.upvalues.clear();
        self.globals.clear();
        self.unwatched.clear();
        self.fresh.clear();
        self.lookups.clear();
        self.held.clear();
        self.rows.forget();
        self.epoch = None;
    }

    /// Returns whether what was known `before` of tables and globals is still known. The epoch and
    /// unwatched tables are left out: stores of metatables discard them, but change neither in a
    /// quiet loop, where code exits instead.
    ///
    /// Facts about values are left out as well: guarded types, methods, the own closure, constants.
    /// Nothing that a loop does falsifies them, although a merge point may not know them any more
    /// after a branch has guarded a value again.
    pub(super) fn confirms(&self, before: &Known) -> bool {
        let (shapes, lookups) = (&self.shapes, &self.lookups);
        self.rows.confirm(&before.rows)
            && before.shapes.iter().all(|(t, of)| shapes.get(t).is_some_and(|now| now.are_in(of)))
            && before.lookups.iter().all(|(lookup, v)| lookups.get(lookup) == Some(v))
            && before.fields.iter().all(|(field, v)| self.fields.get(field) == Some(v))
            && before.globals.iter().all(|(global, v)| self.globals.get(global) == Some(v))
    }

    /// Discards the values of upvalues, and of globals, whose environment may be such an upvalue,
    /// after a store to shared variables.
    pub(super) fn forget_upvalues(&mut self) {
        self.upvalues.clear();
        self.globals.clear();
    }

    /// Discards all facts about tables, after a store into an unknown table.
    pub(super) fn forget_tables(&mut self) {
        self.shapes.clear();
        self.fields.clear();
        self.globals.clear();
        self.unwatched.clear();
        self.lookups.clear();
        self.rows.forget();
        self.epoch = None;
    }

    /// Discards the shapes of all tables.
    pub(super) fn forget_all_shapes(&mut self) {
        self.shapes.clear();
    }

    /// Discards the values of the fields in slots to which there are stores.
    pub(super) fn forget_fields(&mut self, is_stored: impl Fn(u32) -> bool) {
        self.fields.retain(|&(_, slot), _| !is_stored(slot));
    }

    /// Returns a method of strings that was found before, with the epoch at that time.
    pub(super) fn method_of_strings(&self, method: Name) -> Option<(Value, Value)> {
        self.methods_of_strings.get(&method).copied()
    }

    /// Records a method of strings, with the epoch.
    pub(super) fn note_method_of_strings(&mut self, method: Name, found: (Value, Value)) {
        self.methods_of_strings.insert(method, found);
    }

    /// Returns the epoch of metatables, if it is known.
    pub(super) fn epoch(&self) -> Option<Value> {
        self.epoch
    }

    /// Records the epoch of metatables.
    pub(super) fn note_epoch(&mut self, epoch: Value) {
        self.epoch = Some(epoch);
    }

    /// Returns what a lookup has found, if it is known.
    pub(super) fn lookup(&self, lookup: Lookup) -> Option<Value> {
        self.lookups.get(&lookup).copied()
    }

    /// Records what a lookup has found.
    pub(super) fn note_lookup(&mut self, lookup: Lookup, found: Value) {
        self.lookups.insert(lookup, found);
    }

    /// Returns whether the contents of an entry are recorded, for any closure of the function.
    pub(super) fn is_held(&self, (_, instruction, entry): Entry) -> bool {
        self.held.keys().any(|&(_, other, n)| (other, n) == (instruction, entry))
    }

    /// Records that an entry holds a function. Returns the value that was recorded for the entry
    /// before, if there is one, since more is known about it.
    pub(super) fn hold(&mut self, entry: Entry, function: Value) -> Value {
        *self.held.entry(entry).or_insert(function)
    }

    /// Records that a table has just been allocated.
    pub(super) fn note_fresh(&mut self, table: Value) {
        self.fresh.insert(table, ());
        self.note_unwatched(table);
    }

    /// Returns whether no other value may be this table.
    pub(super) fn is_fresh(&self, table: Value) -> bool {
        self.fresh.contains_key(&table)
    }

    /// Records that a value is stored or passed on, so that other values may refer to the same
    /// object.
    pub(super) fn share(&mut self, value: Value) {
        self.fresh.remove(&value);
    }

    /// Records this for all values.
    pub(super) fn share_all(&mut self) {
        self.fresh.clear();
    }

    /// Returns whether no cache relies on a table.
    pub(super) fn is_unwatched(&self, table: Value) -> bool {
        self.unwatched.contains_key(&table)
    }

    /// Records that no cache relies on a table, as the checks of a store have determined.
    pub(super) fn note_unwatched(&mut self, table: Value) {
        self.unwatched.insert(table, ());
    }

    /// Returns the value of a global, if it is known.
    pub(super) fn global(&self, global: Global) -> Option<Value> {
        self.constant_globals.get(&global).or_else(|| self.globals.get(&global)).copied()
    }

    /// Records the value of a global that the code speculates to stay the same.
    pub(super) fn note_constant_global(&mut self, global: Global, value: Value) {
        self.constant_globals.insert(global, value);
    }

    /// Returns whether a value is that of a global that the code speculates to stay the same.
    pub(super) fn is_constant_global(&self, value: Value) -> bool {
        self.constant_globals.values().any(|&v| v == value)
    }

    /// Returns whether a guard has found that a value is the function's own closure.
    pub(super) fn is_own(&self, value: Value) -> bool {
        self.own.contains_key(&value)
    }

    /// Records that a value is the function's own closure.
    pub(super) fn note_own(&mut self, value: Value) {
        self.own.insert(value, ());
    }

    /// Records the value of a global.
    pub(super) fn note_global(&mut self, global: Global, value: Value) {
        self.globals.insert(global, value);
    }

    /// Returns the value after the last guard of its type, by its origin.
    pub(super) fn guarded(&self, origin: Value) -> Option<Value> {
        self.guarded.get(&origin).copied()
    }

    /// Records that a guard of the type of `origin` gave `guarded`.
    pub(super) fn note_guarded(&mut self, origin: Value, guarded: Value) {
        self.guarded.insert(origin, guarded);
    }

    /// Returns the integer or float that is equal to a number, if the number was converted before.
    pub(super) fn converted(&self, origin: Value, to: Tag) -> Option<Value> {
        self.converted.get(&(origin, to)).copied()
    }

    /// Records the integer or float that is equal to a number.
    pub(super) fn note_converted(&mut self, origin: Value, to: Tag, number: Value) {
        self.converted.insert((origin, to), number);
    }

    /// Returns the set of shapes that `table` may have, if it is known.
    pub(super) fn shapes(&self, table: Value) -> Option<Shapes> {
        self.shapes.get(&table).copied()
    }

    /// Records that `table` has one of these shapes.
    pub(super) fn note_shapes(&mut self, table: Value, shapes: Shapes) {
        self.shapes.insert(table, shapes);
    }

    /// Records that a table that had one of these shapes now has another shape, and discards these
    /// shapes for other tables, since any value may be that table.
    pub(super) fn change_shape(&mut self, table: Value, shapes: Shapes, to: Shapes) {
        if !self.is_fresh(table) {
            self.forget_shapes(shapes);
        }
        self.note_shapes(table, to);
    }

    fn forget_shapes(&mut self, shapes: Shapes) {
        self.shapes.retain(|_, known| !known.ids().iter().any(|&id| shapes.contains(id)));
    }

    /// Discards what a change of the metatable of `table`, which also changes its shape, makes
    /// invalid; any value may be the same table. Absent fields are looked up in the new metatable,
    /// so the values of fields are discarded unless `is_there` returns that they are not nil.
    pub(super) fn change_metatable(&mut self, table: Value, is_there: impl Fn(Value) -> bool) {
        self.epoch = None;
        // the metatable and its class are marked as tables that caches rely on
        let fresh = &self.fresh;
        self.unwatched.retain(|table, ()| fresh.contains_key(table));
        if self.is_fresh(table) {
            self.lookups.retain(|&(_, of), _| of != table);
            self.shapes.remove(&table);
            self.fields.retain(|&(of, _), value| of != table || is_there(*value));
            // Elements that are tables are not inherited, so they stay the same. A loop would not
            // count that they are forgotten.
            return;
        }
        self.rows.forget();
        self.lookups.clear();
        match self.shapes(table) {
            Some(shapes) => self.forget_shapes(shapes),
            None => self.shapes.clear(),
        }
        self.fields.retain(|_, value| is_there(*value));
    }

    /// Returns the value of a field, if it is known.
    pub(super) fn field(&self, table: Value, slot: u32) -> Option<Value> {
        self.fields.get(&(table, slot)).copied()
    }

    /// Returns the slots of the fields of a table whose values are known, in order.
    pub(super) fn fields_of(&self, table: Value) -> Vec<u32> {
        let all = self.known_fields().into_iter();
        all.filter(|&(of, _)| of == table).map(|(_, slot)| slot).collect()
    }

    /// Returns the tables and slots of the fields whose values are known, in a fixed order.
    pub(super) fn known_fields(&self) -> Vec<(Value, u32)> {
        let mut known: Vec<(Value, u32)> = self.fields.keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// Records the value of a field.
    pub(super) fn note_field(&mut self, table: Value, slot: u32, value: Value) {
        self.fields.insert((table, slot), value);
    }

    /// Records a store to a field, and discards the same slot of other tables, which may be the
    /// same table. `value` is `None` if the value may be nil, in which case metatables must be
    /// searched.
    pub(super) fn store_field(&mut self, table: Value, slot: u32, value: Option<Value>) {
        match self.is_fresh(table) {
            true => _ = self.fields.remove(&(table, slot)),
            false => self.fields.retain(|&(_, other), _| other != slot),
        }
        if let Some(value) = value {
            self.note_field(table, slot, value);
        }
    }

    /// Returns the value of an upvalue, if it is known.
    pub(super) fn upvalue(&self, closure: Option<Value>, n: usize) -> Option<Value> {
        self.upvalues.get(&(closure, n)).copied()
    }

    /// Returns the upvalues whose values are known, in a fixed order.
    pub(super) fn known_upvalues(&self) -> Vec<Upvalue> {
        let mut known: Vec<Upvalue> = self.upvalues.keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// Records the value of an upvalue.
    pub(super) fn note_upvalue(&mut self, closure: Option<Value>, n: usize, value: Value) {
        self.upvalues.insert((closure, n), value);
    }

    /// Records a store to an upvalue, and discards the values of the others, each of which may be
    /// the same variable, shared by closures or joined by `debug.upvaluejoin`.
    pub(super) fn store_upvalue(&mut self, closure: Option<Value>, n: usize, value: Value) {
        self.forget_upvalues();
        self.note_upvalue(closure, n, value);
    }

    /// Returns the value of an upvalue that the program never assigns, if it is known.
    pub(super) fn constant(&self, closure: Option<Value>, n: usize) -> Option<Value> {
        self.constants.get(&(closure, n)).copied()
    }

    /// Records the value of an upvalue that the program never assigns.
    pub(super) fn note_constant(&mut self, closure: Option<Value>, n: usize, value: Value) {
        self.constants.insert((closure, n), value);
    }

    /// Records that no debug function has changed a constant upvalue; returns whether that was
    /// known.
    pub(super) fn hold_constants(&mut self) -> bool {
        std::mem::replace(&mut self.constants_hold, true)
    }

    /// Returns the address of the slot of a closure's method, if it is known.
    pub(super) fn method(&self, closure: Value) -> Option<usize> {
        self.methods.get(&closure).copied()
    }

    /// Returns whether a closure has the method whose slot is at this address.
    pub(super) fn has_method(&self, closure: Value, slot: usize) -> bool {
        self.method(closure) == Some(slot)
    }

    /// Records that a closure has the method whose slot is at this address.
    pub(super) fn note_method(&mut self, closure: Value, slot: usize) {
        self.methods.insert(closure, slot);
    }

    /// Returns the facts that hold on all paths to a point; none if there are no paths.
    pub(super) fn on_all<'a>(mut paths: impl Iterator<Item = &'a Known>) -> Known {
        let mut known = paths.next().cloned().unwrap_or_default();
        paths.for_each(|other| known.meet(other));
        known
    }

    /// Keeps the facts that hold in both predecessors of a merge point.
    pub(super) fn meet(&mut self, other: &Known) {
        keep_common(&mut self.guarded, &other.guarded);
        keep_common(&mut self.converted, &other.converted);
        self.shapes.retain(|table, shapes| {
            let both = other.shapes.get(table).and_then(|others| shapes.and(others));
            *shapes = both.unwrap_or(*shapes);
            both.is_some()
        });
        keep_common(&mut self.fields, &other.fields);
        self.rows.meet(&other.rows);
        keep_common(&mut self.upvalues, &other.upvalues);
        keep_common(&mut self.constants, &other.constants);
        self.constants_hold &= other.constants_hold;
        keep_common(&mut self.unwatched, &other.unwatched);
        keep_common(&mut self.fresh, &other.fresh);
        keep_common(&mut self.lookups, &other.lookups);
        keep_common(&mut self.held, &other.held);
        keep_common(&mut self.methods_of_strings, &other.methods_of_strings);
        self.epoch = self.epoch.filter(|_| self.epoch == other.epoch);
        keep_common(&mut self.globals, &other.globals);
        keep_common(&mut self.constant_globals, &other.constant_globals);
        keep_common(&mut self.own, &other.own);
        keep_common(&mut self.methods, &other.methods);
    }
}

fn keep_common<K: Hash + Eq, V: PartialEq>(of: &mut HashMap<K, V>, other: &HashMap<K, V>) {
    of.retain(|key, value| other.get(key) == Some(value));
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;

    fn shape(id: u32) -> Shapes {
        Shapes::of([id]).expect("it is one")
    }

    #[test]
    fn a_store_forgets_the_slot_in_other_tables() {
        let [t, u, v, w] = [0, 1, 2, 3].map(Value::new);
        let mut known = Known::default();
        known.note_field(t, 0, v);
        known.note_field(t, 1, v);
        known.store_field(u, 0, Some(w));
        assert_eq!(known.field(t, 0), None);
        assert_eq!(known.field(t, 1), Some(v));
        assert_eq!(known.field(u, 0), Some(w));
        known.store_field(t, 0, None);
        assert_eq!(known.field(u, 0), None);
    }

    #[test]
    fn a_metatable_changes_the_shape_and_what_may_be_nil() {
        let [t, u, v, nil] = [0, 1, 2, 3].map(Value::new);
        let mut known = Known::default();
        known.note_shapes(t, shape(7));
        known.note_shapes(u, shape(8));
        known.note_field(t, 0, v);
        known.note_field(t, 1, nil);
        known.note_field(u, 1, nil);
        known.change_metatable(t, |value| value != nil);
        assert_eq!((known.shapes(t), known.shapes(u)), (None, Some(shape(8))));
        assert_eq!(known.field(t, 0), Some(v));
        assert_eq!((known.field(t, 1), known.field(u, 1)), (None, None));
        // the shape of the table is unknown, so it may be the same table as any of the others
        known.change_metatable(t, |_| true);
        assert_eq!(known.shapes(u), None);
    }

    #[test]
    fn a_merge_point_knows_what_both_ways_know() {
        let [t, u, v] = [0, 1, 2].map(Value::new);
        let mut one = Known::default();
        one.note_shapes(t, shape(7));
        one.note_shapes(u, shape(7));
        one.note_upvalue(None, 0, v);
        let mut other = Known::default();
        other.note_shapes(t, shape(8));
        other.note_upvalue(None, 0, v);
        one.meet(&other);
        assert_eq!(one.shapes(t), Shapes::of([7, 8]));
        assert!(one.shapes(u).is_none());
        // a table of either shape may be the one that changes
        one.forget_shapes(shape(8));
        assert!(one.shapes(t).is_none());
        assert_eq!(one.upvalue(None, 0), Some(v));
    }
}
