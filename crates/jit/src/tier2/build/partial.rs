//! Partial redundancy elimination: paths with calls reestablish what other paths know.
//!
//! At the merge point of a call of a function and its inlined early returns, everything that was
//! known before is still known on the paths of the early returns, and nothing is known on the path
//! of the call. Without this optimization, all of it would have to be loaded and guarded again
//! after the merge point, even on the paths of the early returns. Instead, the path of the call
//! does this before the merge point: it guards the shapes of tables that are known on the other
//! paths, and loads the fields whose values are known there, for which the merge point gets
//! parameters. If a guard fails there, the frame continues after the call.
//!
//! A loop that makes no other calls preserves what is known at its entry in the same way: its back
//! edges guard and load what is not known there. Its polls deoptimize the frame if other code may
//! have changed memory, like those of quiet loops.
//!
//! See Morel and Renvoise, *Global Optimization by Suppression of Partial Redundancies*, 1979.

use cranelift_codegen::entity::EntityRef;
use perilune_runtime::value::Tag;

use super::inline::Return;
use super::order::Loop;
use super::{Builder, Calls, Incoming};
use crate::entity::{Pc, Reg};
use crate::feedback::snapshot::Slot;
use crate::testing::fault::Fault;
use crate::tier2::ir::{Block, Op, State, Type, Value};
use crate::tier2::known::Known;
use crate::tier2::shapes::Shapes;

/// What is known about a table on all paths to a point.
#[derive(Clone)]
pub(super) struct Held {
    table: Value,
    shapes: Shapes,
    fields: Vec<Field>,
}

/// A field whose type, at least, is known.
#[derive(Clone)]
struct Field {
    slot: u32,
    tag: Tag,
    /// The address of the slot of the method, if the value is a function and this is known.
    method: Option<usize>,
}

/// A field for which a merge point has a parameter.
pub(super) struct MergedField {
    table: Value,
    slot: u32,
    pub(super) param: Value,
    method: Option<usize>,
    /// The values that the edges pass.
    pub(super) values: Vec<Value>,
}

/// What a loop preserves.
pub(super) struct Kept {
    held: Vec<Held>,
    /// The number of calls after which nothing is known, of those built before the loop.
    calls: u32,
}

impl Kept {
    /// Returns the number of fields, for which the head of the loop has parameters after all
    /// others.
    pub(super) fn count(&self) -> usize {
        self.held.iter().map(|held| held.fields.len()).sum()
    }
}

impl Builder<'_> {
    /// Returns what all early returns know about the tables that registers hold after the call.
    pub(super) fn held_after(&self, returns: &[Return]) -> Vec<Held> {
        let (i, next) = (self.instr(self.pc), self.pc + 1);
        // the state after an open call cannot be described
        if i.c() == 0 || self.source.snapshot.failed.contains(&next.as_u32()) {
            return Vec::new();
        }
        let end = i.a();
        let own = self.all().take(end).filter(|&r| self.is_needed(next, r));
        let own = own.filter_map(|r| self.registers[r.index()]);
        let known: Vec<&Known> = returns.iter().map(|r| &r.known).collect();
        self.held(&known, own)
    }

    /// Returns what is known on all paths about the tables that are among `own` (the values of
    /// registers), or are held by registers of callers.
    fn held(&self, paths: &[&Known], own: impl Iterator<Item = Value>) -> Vec<Held> {
        let (false, [first, others @ ..]) = (self.source.snapshot.general, paths) else {
            return Vec::new();
        };
        let outer = self.callers().map(|(_, v)| v);
        let mut tables: Vec<Value> = outer.chain(own).map(|v| self.f.origin(v)).collect();
        tables.sort_unstable();
        tables.dedup();
        let held = |table: Value| {
            let shapes = first.shapes(table)?;
            let is_same = |known: &&Known| known.shapes(table) == Some(shapes);
            others.iter().all(is_same).then(|| {
                let fields = first.fields_of(table).into_iter();
                let fields = fields.filter_map(|slot| self.held_field(paths, table, slot));
                Held { table, shapes, fields: fields.collect() }
            })
        };
        tables.into_iter().filter_map(held).collect()
    }

    /// Returns what is known on all paths about a field, which is at least its type.
    fn held_field(&self, paths: &[&Known], table: Value, slot: u32) -> Option<Field> {
        let mut found: Option<(Type, Option<usize>)> = None;
        for known in paths {
            let v = self.held_value(known, table, slot)?;
            let method = known.method(self.f.origin(v));
            let (ty, same) = *found.get_or_insert((self.f.ty(v), method));
            found = Some((ty.join(self.f.ty(v)), same.filter(|_| same == method)));
        }
        let (ty, method) = found?;
        let tag = ty.tag()?;
        let is_kept =
            matches!(tag, Tag::INTEGER | Tag::FLOAT | Tag::STRING | Tag::TABLE | Tag::FUNCTION);
        is_kept.then_some(Field { slot, tag, method })
    }

    /// Returns the value of a field on a path where it is known.
    fn held_value(&self, known: &Known, table: Value, slot: u32) -> Option<Value> {
        let v = known.field(table, slot)?;
        Some(known.guarded(self.f.origin(v)).unwrap_or(v))
    }

    /// Reestablishes, by guards and loads after the call, what the early returns know.
    pub(super) fn hold_again(&mut self, all: &[Held]) {
        if all.is_empty() || self.source.fault == Some(Fault::StaleJoins) {
            return;
        }
        let state = self.state_at(self.pc + 1);
        for held in all {
            self.hold_shapes(held, state);
            for field in &held.fields {
                self.reload(held.table, field, state);
            }
        }
        self.noise.healed += 1;
    }

    /// Guards the shapes of a table that are known on other paths, unless they are known here as
    /// well.
    fn hold_shapes(&mut self, held: &Held, state: State) {
        let Held { table, shapes, .. } = *held;
        if self.known.shapes(table).is_some_and(|known| known.are_in(&shapes)) {
            return;
        }
        let object = self.speculate(table, Tag::TABLE, state);
        self.push(Op::GuardShape(object, shapes, state));
        self.known.note_shapes(table, shapes);
    }

    /// Loads a field.
    fn reload(&mut self, table: Value, field: &Field, state: State) -> Value {
        let Field { slot: number, tag, method } = *field;
        let object = self.speculate(table, Tag::TABLE, state);
        let slot = Slot { number, is_inline: false };
        let v = self.value(Type::Is(tag), Op::Reload(object, slot, (tag, method), state));
        self.known.note_field(table, number, v);
        if let Some(method) = method {
            self.known.note_method(v, method);
        }
        v
    }

    /// Returns the fields whose values are known on all edges to a merge point, but differ, with
    /// parameters for them. The stores remain, so that memory has the values for all other code.
    pub(super) fn merge_fields(&mut self, edges: &[&Known]) -> Vec<MergedField> {
        let [first, ..] = edges else { return Vec::new() };
        let mut merged = Vec::new();
        for (table, slot) in first.known_fields() {
            let values = edges.iter().map(|known| self.held_value(known, table, slot));
            let Some(values) = values.collect::<Option<Vec<Value>>>() else { continue };
            // a table that has just been created may be one that will not be allocated
            let is_fresh = |&v: &Value| edges.iter().any(|known| known.is_fresh(self.f.origin(v)));
            if values.iter().all(|&v| v == values[0])
                || std::iter::once(&table).chain(&values).any(is_fresh)
            {
                continue;
            }
            let Some(Field { tag, method, .. }) = self.held_field(edges, table, slot) else {
                continue;
            };
            let param = self.f.value(Type::Is(tag));
            merged.push(MergedField { table, slot, param, method, values });
        }
        merged
    }

    /// Records the fields for which a merge point has parameters.
    pub(super) fn note_merged(&mut self, merged: &[MergedField]) {
        for &MergedField { table, slot, param, method, .. } in merged {
            self.known.note_field(table, slot, param);
            if let Some(method) = method {
                self.known.note_method(param, method);
            }
        }
    }

    /// Returns whether a loop is to preserve what is known at its entry: it calls functions that
    /// may return early, and no other calls were found when it was built before
    /// ([`Builder::kept_values`]).
    pub(super) fn keeps_at(&self, head: Pc, l: &Loop) -> bool {
        let pcs = l.instructions.iter().map(|pc| pc.as_u32());
        !self.loops.is_kept_in_vain(self.place(head))
            && !self.source.snapshot.failed.contains(&head.as_u32())
            && self.has_early(self.source.calls, pcs)
    }

    /// Returns whether one of these calls, or a call in the functions that they inline, is inlined
    /// only up to its early returns.
    fn has_early(&self, calls: &Calls, mut pcs: impl Iterator<Item = u32>) -> bool {
        pcs.any(|pc| {
            let mut all = calls.get(&pc).into_iter().flatten();
            all.any(|&number| {
                let candidate = &self.candidates[number];
                let calls = &candidate.calls;
                candidate.inlinee.early.is_some() || self.has_early(calls, calls.keys().copied())
            })
        })
    }

    /// Adds parameters to the head of a loop for the fields that it preserves, and records the
    /// fields and the shapes in `known`. `registers` are the values of registers at the head.
    pub(super) fn keep(
        &mut self,
        block: Block,
        incoming: &[Incoming],
        registers: &[Option<Value>],
        known: &mut Known,
    ) {
        let paths: Vec<&Known> = incoming.iter().map(|edge| &edge.known).collect();
        let held = self.held(&paths, registers.iter().flatten().copied());
        if held.is_empty() {
            return;
        }
        for Held { table, shapes, fields } in &held {
            known.note_shapes(*table, *shapes);
            for Field { slot, tag, method } in fields {
                let param = self.f.value(Type::Is(*tag));
                self.f.blocks[block].params.push((param, Reg::new(self.offset)));
                for edge in incoming {
                    let v = self.held_value(&edge.known, *table, *slot).expect("it is known");
                    self.pass(edge.from, v);
                }
                known.note_field(*table, *slot, param);
                if let Some(method) = *method {
                    known.note_method(param, method);
                }
            }
        }
        let calls = self.noise.unhealed();
        self.kept.insert(block, Kept { held, calls });
    }

    /// Returns the values of the fields that the loop at `to` preserves, at one of its back edges.
    /// Builds guards and loads for what is not known.
    pub(super) fn kept_values(&mut self, to: Pc, block: Block) -> Vec<Value> {
        let Some(Kept { held, calls }) = self.kept.get(&block) else { return Vec::new() };
        let (held, calls) = (held.clone(), *calls);
        let changes = |held: &Held| {
            let known = self.known.shapes(held.table);
            known.is_some_and(|known| !known.are_in(&held.shapes))
        };
        if self.noise.unhealed() != calls || held.iter().any(changes) {
            self.found.note_kept_in_vain(self.place(to));
        }
        let state = self.state_at(to);
        let mut values = Vec::new();
        for held in &held {
            self.hold_shapes(held, state);
            for field in &held.fields {
                let v = match self.held_value(&self.known, held.table, field.slot) {
                    Some(v) => self.speculate(v, field.tag, state),
                    None => self.reload(held.table, field, state),
                };
                let origin = self.f.origin(v);
                if let Some(method) = field.method.filter(|&m| !self.known.has_method(origin, m)) {
                    self.push(Op::GuardMethod(v, method, state));
                    self.known.note_method(origin, method);
                }
                values.push(v);
            }
        }
        values
    }
}
