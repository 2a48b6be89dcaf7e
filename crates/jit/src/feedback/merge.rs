//! Merges feedback of several states and compiles, and generalizes feedback to all operands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Feedback, FeedbackLayout, Op, Proto};
use perilune_runtime::engine::Shape;
use perilune_runtime::state::State;

use super::inlinee::MAX_SHAPES;
use super::snapshot::{
    CalleeSeen, FieldPath, FieldSnapshot, GlobalSeen, MAX_PATHS, NotInlined, Shapes, Snapshot,
};

impl FieldSnapshot {
    /// Returns the ids of the shapes in the paths.
    fn shapes(&self) -> impl Iterator<Item = u32> + '_ {
        self.paths.iter().filter_map(|p| p.shape())
    }

    /// Returns whether the feedback contains this path, or one that covers more of the same tables.
    pub(crate) fn has(&self, path: &FieldPath) -> bool {
        self.paths.iter().any(|p| match (p, path) {
            (
                FieldPath::Own { shape, absent, .. },
                FieldPath::Own { shape: wanted, absent: as_well, .. },
            ) => shape == wanted && (absent.is_some() || as_well.is_none()),
            // a path that finds any field finds a method, too
            (
                FieldPath::Chain { shape, entry, dictionary, method: false },
                FieldPath::Chain { shape: wanted, entry: place, dictionary: kind, .. },
            ) => (shape, entry, dictionary) == (wanted, place, kind),
            _ => p == path,
        })
    }

    fn merge(&mut self, before: &FieldSnapshot) {
        self.seen |= before.seen;
        self.dictionaries |= before.dictionaries;
        self.megamorphic |= before.megamorphic;
        for p in &before.paths {
            let same = self.paths.iter_mut().find_map(|known| match (known, p) {
                (
                    FieldPath::Own { shape, absent, .. },
                    FieldPath::Own { shape: other, absent: as_well, .. },
                ) if shape == other => {
                    *absent = absent.or(*as_well);
                    Some(())
                }
                (
                    FieldPath::Chain { shape, entry, dictionary, method },
                    FieldPath::Chain {
                        shape: other,
                        entry: place,
                        dictionary: kind,
                        method: as_well,
                    },
                ) if (*shape, *entry, *dictionary) == (*other, *place, *kind) => {
                    *method &= as_well;
                    Some(())
                }
                _ => None,
            });
            if same.is_none() && self.paths.len() < MAX_PATHS && !self.paths.contains(p) {
                self.paths.push(*p);
            }
        }
    }
}

/// Returns the bits of an instruction's cell on which its code depends, and those that are assumed
/// if the cell has none of them.
pub(crate) fn bits(op: Op) -> (u32, u32) {
    match op {
        // their code does not depend on feedback
        Op::Eq => (seen::OTHER, 0),
        Op::EqK | Op::EqI | Op::Len | Op::Concat | Op::SelfR => (0, 0),
        Op::ForPrep => (seen::INT | seen::FLOAT | seen::MIXED, seen::INT | seen::FLOAT),
        _ => match op.feedback() {
            Feedback::Operands => (seen::ALL, seen::ALL & !seen::MIXED),
            Feedback::Access => (access::ALL, access::ALL),
            _ => (0, 0),
        },
    }
}

impl Snapshot {
    /// Returns the feedback of a function that has not run.
    pub(crate) fn before_run(proto: &Proto) -> Snapshot {
        let layout = FeedbackLayout::of(proto);
        let cells = layout.cells;
        let fields = (0..layout.counts.fields).map(|_| FieldSnapshot::default()).collect();
        let callees = (0..layout.counts.callees).map(|_| CalleeSeen::Nothing).collect();
        let globals = (0..layout.counts.globals).map(|_| GlobalSeen::Nothing).collect();
        let entry_tags = Box::default();
        let (general, failed, prunes) = (false, BTreeSet::new(), false);
        let (handlers, inlinees) = (BTreeMap::new(), BTreeMap::new());
        let not_inlined = NotInlined::default();
        Snapshot {
            cells,
            fields,
            callees,
            globals,
            entry_tags,
            general,
            failed,
            prunes,
            handlers,
            inlinees,
            not_inlined,
        }
    }

    /// Adds the feedback with which the code to be replaced was compiled, since other states may
    /// still need it.
    pub fn merge(&mut self, before: &Snapshot, proto: &Proto) {
        for (pc, i) in proto.code.iter().enumerate() {
            self.cells[pc] |= before.cells[pc] & bits(i.op()).0;
        }
        self.failed.extend(&before.failed);
        if self.entry_tags.is_empty() {
            self.entry_tags = before.entry_tags.clone();
        }
        for (callee, &before) in self.callees.iter_mut().zip(&before.callees) {
            *callee = match (*callee, before) {
                (seen, CalleeSeen::Nothing) => seen,
                (CalleeSeen::Nothing, seen) => seen,
                (a, b) if a == b => a,
                _ => CalleeSeen::Several,
            };
        }
        for (global, &before) in self.globals.iter_mut().zip(&before.globals) {
            *global = before.max(*global);
        }
        for (field, before) in self.fields.iter_mut().zip(&before.fields) {
            field.merge(before);
        }
        self.inlinees.retain(|pc, now| {
            let Some(before) = before.inlinees.get(pc) else { return true };
            for inlinee in before {
                let Some(same) = now.iter_mut().find(|now| now.is_same(inlinee)) else {
                    now.push(inlinee.clone());
                    continue;
                };
                if let Some(proto) = same.proto.upgrade() {
                    Arc::make_mut(&mut same.snapshot).merge(&inlinee.snapshot, &proto);
                }
                same.shapes.extend(&inlinee.shapes);
            }
            // several functions are distinguished by the shapes of receivers
            let [_, _, ..] = now[..] else { return true };
            let shapes: usize = now.iter().map(|inlinee| inlinee.shapes.len()).sum();
            shapes <= MAX_SHAPES && now.iter().all(|inlinee| !inlinee.shapes.is_empty())
        });
    }

    /// Returns the shapes in the feedback: those that `st` knows, and those in `before`.
    ///
    /// # Safety
    /// `st` is live, and of this thread.
    pub unsafe fn hold_shapes(&self, st: *mut State, before: &[Arc<Shape>]) -> Shapes {
        let shapes = &(*st).shapes;
        let mut held: Vec<Arc<Shape>> = Vec::new();
        for id in self.shape_ids() {
            if held.iter().any(|s| s.id() == id) {
                continue;
            }
            match shapes.get(&id) {
                Some(&local) => held.push((*local).shape.clone()),
                None => held.extend(before.iter().find(|s| s.id() == id).cloned()),
            }
        }
        held.into()
    }

    /// Returns the ids of the shapes in the feedback and in that of functions that may be inlined.
    fn shape_ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.fields.iter().flat_map(FieldSnapshot::shapes).collect();
        ids.extend(self.handlers.values().filter_map(|handler| handler.shape));
        for inlinee in self.inlinees.values().flatten() {
            ids.extend(inlinee.snapshot.shape_ids());
        }
        ids
    }

    /// Keeps the tags at the entry of a loop that were the same before; the others become unknown.
    pub(crate) fn keep_entry_tags(&mut self, before: &Snapshot) {
        for (tag, &before) in self.entry_tags.iter_mut().zip(&before.entry_tags) {
            if *tag != before {
                *tag = Snapshot::UNKNOWN;
            }
        }
    }

    /// Adds all kinds of operands that code can handle inline, for a method whose operand types
    /// never become stable. Operators that have always had floats still check for these first.
    pub fn generalize(&mut self, proto: &Proto) {
        (self.general, self.prunes) = (true, false);
        self.inlinees.clear();
        self.entry_tags = Box::default();
        for (pc, i) in proto.code.iter().enumerate() {
            let bits = bits(i.op()).0;
            let floats = self.cells[pc] & bits == seen::FLOAT;
            let add = if floats && bits == seen::ALL { seen::OTHER } else { bits };
            self.cells[pc] |= add;
        }
    }
}
