//! When is it worth compiling a method anew: whether what feedback has seen meanwhile would change its code.
//!
//! What code was compiled for is kept and added to what the requesting state has seen, so that states with different data do not take the method from
//! each other. A method whose operands never settle gets code for everything in the end, and is left alone.

use std::sync::Arc;

use perilune_bytecode::{Feedback, FeedbackLayout, Op, Proto};
use perilune_runtime::engine::Shape;
use perilune_runtime::state::State;

use crate::snapshot::{CalleeSeen, FieldSnapshot, Snapshot};
use crate::types::{access, seen};

/// The most ways that an access of a field tries in line; the cache itself, which has as many entries, is asked for others.
pub(crate) const MAX_PATHS: usize = 6;

impl FieldSnapshot {
    /// Would code compiled with this find in line what `now` finds, or be of no use for more?
    fn covers(&self, now: &FieldSnapshot) -> bool {
        (self.seen || !now.seen) && self.has_paths(now)
    }

    fn has_paths(&self, now: &FieldSnapshot) -> bool {
        self.paths.len() >= MAX_PATHS || now.paths.iter().all(|p| self.paths.contains(p))
    }

    /// Ids of the shapes it names.
    fn shapes(&self) -> impl Iterator<Item = u32> + '_ {
        self.paths.iter().filter_map(|p| p.shape())
    }

    fn merge(&mut self, before: &FieldSnapshot) {
        self.seen |= before.seen;
        for p in &before.paths {
            if self.paths.len() < MAX_PATHS && !self.paths.contains(p) {
                self.paths.push(*p);
            }
        }
    }
}

/// The bits of an instruction's cell that change what tier 1 makes of it, and those that it takes for granted when it has seen none of them.
fn bits(op: Op) -> (u32, u32) {
    match op {
        // the paths of these are the same for everybody
        Op::Eq => (seen::OTHER, 0),
        Op::EqK | Op::EqI | Op::Len | Op::Concat | Op::SelfR => (0, 0),
        Op::ForPrep => (3, 3),
        _ => match op.feedback() {
            Feedback::Operands => (seen::ALL, seen::ALL & !seen::MIXED),
            Feedback::Access => (access::ALL, access::ALL),
            _ => (0, 0),
        },
    }
}

/// What stands for everything else among the feedback of an operator that has always had floats: it is handled, if not in line.
const OTHER: u32 = 16;

impl Snapshot {
    /// That of a function that has not run.
    pub(crate) fn before_run(proto: &Proto) -> Snapshot {
        let layout = FeedbackLayout::of(proto);
        let cells = (0..proto.code.len()).map(|pc| layout.record(pc).unwrap_or(0)).collect();
        let fields = (0..layout.fields).map(|_| FieldSnapshot::default()).collect();
        let callees = (0..layout.callees).map(|_| CalleeSeen::Nothing).collect();
        let entry_tags = Box::default();
        Snapshot { cells, fields, callees, entry_tags, general: false, prunes: false }
    }

    /// Has it seen nothing that would change the code?
    pub(crate) fn is_blank(&self, proto: &Proto) -> bool {
        let blank = Snapshot::before_run(proto);
        self.cells == blank.cells && self.fields == blank.fields
    }

    /// Is code of `proto` that was compiled with this as good for `now` as code compiled with `now` would be?
    pub fn covers(&self, now: &Snapshot, proto: &Proto) -> bool {
        proto.code.iter().enumerate().all(|(pc, i)| {
            if i.op().feedback() == Feedback::Field {
                let n = now.cells[pc] as usize;
                return self.fields[n].covers(&now.fields[n]);
            }
            if i.op() == Op::Call {
                let n = now.cells[pc] as usize;
                let unknown = self.callees[n] == CalleeSeen::Nothing && self.prunes;
                return !unknown || now.callees[n] == CalleeSeen::Nothing;
            }
            let (bits, default) = bits(i.op());
            let known = match self.cells[pc] & bits {
                0 if self.prunes => 0,
                0 => default,
                known => known,
            };
            now.cells[pc] & bits & !known == 0
        })
    }

    /// Adds what the code was compiled with that is to be replaced: other states may still need it.
    pub fn merge(&mut self, before: &Snapshot, proto: &Proto) {
        for (pc, i) in proto.code.iter().enumerate() {
            self.cells[pc] |= before.cells[pc] & bits(i.op()).0;
        }
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
        for (field, before) in self.fields.iter_mut().zip(&before.fields) {
            field.merge(before);
        }
    }

    /// The shapes that it names: those that `st` knows, and those among `before`.
    ///
    /// # Safety
    /// `st` is live, and of this thread.
    pub unsafe fn hold_shapes(&self, st: *mut State, before: &[Arc<Shape>]) -> Arc<[Arc<Shape>]> {
        let shapes = &(*st).shapes;
        let mut held: Vec<Arc<Shape>> = Vec::new();
        for id in self.fields.iter().flat_map(FieldSnapshot::shapes) {
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

    /// Takes everything for seen that can be handled in line: of a method whose operands never settle. Operators that have always had floats keep
    /// looking for these first.
    pub fn generalize(&mut self, proto: &Proto) {
        (self.general, self.prunes) = (true, false);
        for (pc, i) in proto.code.iter().enumerate() {
            let bits = bits(i.op()).0;
            let floats = self.cells[pc] & bits == seen::FLOAT;
            let add = if floats && bits == seen::ALL { OTHER } else { bits };
            self.cells[pc] |= add;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::snapshot::FieldPath;

    fn proto(source: &str) -> Arc<Proto> {
        let chunk = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
        chunk.unwrap_or_else(|_| panic!("it compiles"))
    }

    fn empty(proto: &Proto) -> Snapshot {
        let mut fields = 0;
        let cells = proto
            .code
            .iter()
            .map(|i| {
                let number = fields;
                fields += u32::from(i.op().feedback() == Feedback::Field);
                if i.op().feedback() == Feedback::Field { number } else { 0 }
            })
            .collect();
        let fields = vec![FieldSnapshot::default(); fields as usize].into();
        Snapshot {
            cells,
            fields,
            callees: vec![CalleeSeen::Nothing; proto.code.len()].into(),
            entry_tags: Box::default(),
            general: false,
            prunes: false,
        }
    }

    fn at(proto: &Proto, op: Op) -> usize {
        proto.code.iter().position(|i| i.op() == op).expect("it is there")
    }

    #[test]
    fn new_kinds_of_operands_are_not_covered_until_they_are_merged() {
        let p = proto("local a, b = ... return a + b");
        let pc = at(&p, Op::Add);
        let none = empty(&p);
        let (mut ints, mut floats) = (none.clone(), none.clone());
        ints.cells[pc] = 1;
        floats.cells[pc] = 2;
        assert!(none.covers(&ints, &p) && none.covers(&floats, &p), "both are assumed at first");
        assert!(!ints.covers(&floats, &p) && !floats.covers(&ints, &p));
        floats.merge(&ints, &p);
        assert!(floats.covers(&ints, &p));
        let mut strings = ints.clone();
        strings.cells[pc] = 1 | 8;
        assert!(!ints.covers(&strings, &p), "code for integers is left for anything else");
    }

    #[test]
    fn shapes_are_covered_in_line_and_then_by_the_cache() {
        let p = proto("local t = ... return t.x");
        let mut before = empty(&p);
        for shape in 1..=MAX_PATHS as u32 {
            let mut now = empty(&p);
            now.fields[0].paths = vec![FieldPath::Own { shape, slot: 0 }];
            assert!(!before.covers(&now, &p), "shape {shape}");
            now.merge(&before, &p);
            assert!(now.covers(&before, &p));
            before = now;
        }
        let mut now = empty(&p);
        now.fields[0].paths = vec![FieldPath::Own { shape: MAX_PATHS as u32 + 1, slot: 0 }];
        assert!(before.covers(&now, &p), "the cache finds it");
        now.merge(&before, &p);
        assert_eq!(now.fields[0].paths.len(), MAX_PATHS);
    }

    #[test]
    fn general_code_covers_everything_but_integers_among_floats() {
        let p = proto("local a, b, t = ... return a + b, t[a], a < b");
        let mut general = empty(&p);
        general.generalize(&p);
        let mut all = empty(&p);
        for op in [Op::Add, Op::GetTable, Op::Lt] {
            all.cells[at(&p, op)] = 31;
        }
        assert!(general.covers(&all, &p));
        let mut floats = empty(&p);
        floats.cells[at(&p, Op::Add)] = 2;
        let only = floats.clone();
        floats.generalize(&p);
        assert_eq!(floats.cells[at(&p, Op::Add)], seen::FLOAT | OTHER);
        assert!(floats.covers(&only, &p));
    }
}
