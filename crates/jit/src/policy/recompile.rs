//! Decides whether to recompile a method: whether code compiled with the current feedback would be
//! better.
//!
//! The feedback with which code was compiled is kept, and merged with that of the requesting state,
//! so that states with different data do not replace each other's code. A method whose operand
//! types never become stable eventually gets general code, and is not recompiled any more.

use std::sync::Arc;

use perilune_bytecode::{Feedback, Op, Proto};
use perilune_code::{Method, Phase};

use super::history::{History, Known};
use crate::feedback::inlinee::{InlineeSeen, Position};
use crate::feedback::merge::bits;
use crate::feedback::snapshot::{CalleeSeen, FieldSnapshot, MAX_PATHS, Snapshot};

/// The places where recompiled code must not speculate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Avoid {
    /// At the last instruction of the path; the others are the calls of inlined functions that lead
    /// there.
    At(Vec<Position>),
    /// Anywhere.
    All,
}

impl History {
    /// Returns the input that a method was compiled with, if it is worth recompiling for the
    /// feedback `now`.
    pub(crate) fn to_recompile(
        &self,
        method: &Method,
        proto: &Proto,
        now: impl FnOnce() -> Snapshot,
    ) -> Option<Arc<Known>> {
        if !may_change(method) || self.is_settled() {
            return None;
        }
        let known = self.known()?;
        let covered = known.snapshot.covers(&now(), proto);
        (!covered).then_some(known)
    }

    /// Returns the input that a method was compiled with, if it may be recompiled to inline more
    /// functions.
    pub(crate) fn to_inline_more(&self, method: &Method) -> Option<Arc<Known>> {
        if !may_change(method) || !self.may_inline_more() {
            return None;
        }
        self.known()
    }

    /// Returns the input that a method was compiled with, if it is worth recompiling because its
    /// code has exited at the last instruction of `path` without new feedback; and what to avoid:
    /// speculation at this place, inlining at the call that leads there, or everything.
    pub(crate) fn to_avoid(
        &self,
        method: &Method,
        path: &[Position],
    ) -> Option<(Arc<Known>, Avoid)> {
        /// The number of instructions that may fail before code stops speculating altogether.
        const MAX_FAILED: usize = 16;
        if !may_change(method) {
            return None;
        }
        let known = self.known()?;
        if self.is_settled() {
            // The compile without speculation could not begin, or was refused.
            return (!known.snapshot.general).then_some((known, Avoid::All));
        }
        let may_fail = |path: &&[Position]| {
            let found = known.snapshot.failed_at(path);
            found.is_some_and(|(failed, pc)| !failed.contains(&pc) && failed.len() < MAX_FAILED)
        };
        let avoid = [path, &path[..1]].into_iter().find(may_fail);
        let avoid = avoid.map_or(Avoid::All, |path| Avoid::At(path.into()));
        Some((known, avoid))
    }
}

/// Returns whether a compile of a method that has code can begin now.
fn may_change(method: &Method) -> bool {
    /// The maximum number of live versions of a method.
    const MAX_LIVE: u32 = 2;
    method.phase() == Phase::Compiled && method.live() <= MAX_LIVE
}

impl FieldSnapshot {
    /// Returns whether code compiled with this snapshot has inline paths for everything in `now`,
    /// or already has the maximum number of paths.
    fn covers(&self, now: &FieldSnapshot) -> bool {
        (self.seen || !now.seen) && (self.dictionaries || !now.dictionaries) && self.has_paths(now)
    }

    fn has_paths(&self, now: &FieldSnapshot) -> bool {
        if now.megamorphic || self.megamorphic {
            return self.megamorphic;
        }
        self.paths.len() >= MAX_PATHS || now.paths.iter().all(|p| self.has(p))
    }
}

impl Snapshot {
    /// Returns whether it contains no feedback that code would depend on.
    pub(crate) fn is_blank(&self, proto: &Proto) -> bool {
        let blank = Snapshot::before_run(proto);
        self.cells == blank.cells && self.fields == blank.fields
    }

    /// Returns whether code compiled with this snapshot inlines functions at calls where code
    /// compiled with `before` does not.
    pub(crate) fn inlines_more_than(&self, before: &Snapshot) -> bool {
        self.inlinees.iter().any(|(pc, now)| {
            let before = before.inlinees.get(pc).map_or(&[][..], Vec::as_slice);
            now.iter().any(|now| match before.iter().find(|known| known.is_same(now)) {
                Some(known) => now.snapshot.inlines_more_than(&known.snapshot),
                None => true,
            })
        })
    }

    /// Returns whether code of `proto` compiled with this snapshot is as good for the feedback
    /// `now` as code compiled with `now` would be.
    pub fn covers(&self, now: &Snapshot, proto: &Proto) -> bool {
        let mut entry_tags = self.entry_tags.iter().zip(&now.entry_tags);
        if entry_tags.any(|(&known, &tag)| known != Snapshot::UNKNOWN && known != tag) {
            return false;
        }
        proto.code.iter().enumerate().all(|(pc, i)| {
            if i.op().feedback() == Feedback::Field {
                let n = now.cells[pc] as usize;
                return self.fields[n].covers(&now.fields[n]);
            }
            if i.op() == Op::GetTabUp {
                let n = now.cells[pc] as usize;
                return self.globals[n] >= now.globals[n];
            }
            if matches!(i.op(), Op::Call | Op::TailCall) {
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
        }) && self.inlinees.iter().all(|(pc, known)| {
            now.inlinees.get(pc).is_some_and(|now| now.iter().all(|now| covered_by(known, now)))
        })
    }
}

/// Returns whether one of the inlined functions is the one that is called now, and whether its code
/// suits its current feedback.
fn covered_by(known: &[InlineeSeen], now: &InlineeSeen) -> bool {
    let Some(known) = known.iter().find(|known| known.is_same(now)) else { return false };
    let Some(proto) = known.proto.upgrade() else { return false };
    let has_shapes = known.shapes.is_empty() || known.shapes.is_superset(&now.shapes);
    has_shapes && known.snapshot.covers(&now.snapshot, &proto)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::feedback::snapshot::{FieldPath, GlobalSeen, Slot};
    use perilune_bytecode::feedback::operands as seen;

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
            globals: vec![GlobalSeen::Nothing; proto.code.len()].into(),
            entry_tags: Box::default(),
            general: false,
            failed: BTreeSet::new(),
            prunes: false,
            handlers: BTreeMap::new(),
            inlinees: BTreeMap::new(),
            not_inlined: Default::default(),
        }
    }

    fn own(shape: u32) -> FieldPath {
        FieldPath::Own { shape, slot: Slot { number: 0, is_inline: false }, absent: None }
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
            now.fields[0].paths = vec![own(shape)];
            assert!(!before.covers(&now, &p), "shape {shape}");
            now.merge(&before, &p);
            assert!(now.covers(&before, &p));
            before = now;
        }
        let mut now = empty(&p);
        now.fields[0].paths = vec![own(MAX_PATHS as u32 + 1)];
        assert!(before.covers(&now, &p), "the cache finds it");
        now.merge(&before, &p);
        assert_eq!(now.fields[0].paths.len(), MAX_PATHS);
    }

    #[test]
    fn a_field_that_is_not_always_a_method_is_settled_by_one_compile() {
        let p = proto("local t = ... return t.x");
        let seen = |method| {
            let mut now = empty(&p);
            let path = FieldPath::Chain { shape: 1, entry: 0, dictionary: false, method };
            now.fields[0].paths = vec![path];
            now
        };
        let (methods, mut others) = (seen(true), seen(false));
        assert!(!methods.covers(&others, &p));
        others.merge(&methods, &p);
        assert_eq!(others.fields[0].paths.len(), 1);
        assert!(others.covers(&methods, &p) && others.covers(&seen(false), &p));
        let mut again = seen(true);
        again.merge(&others, &p);
        assert_eq!(again.fields, others.fields);
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
        assert_eq!(floats.cells[at(&p, Op::Add)], seen::FLOAT | seen::OTHER);
        assert!(floats.covers(&only, &p));
    }
}
