//! Constructors of tables: the stores that follow a NEWTABLE at once.

use std::ops::Range;

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::effects::effects;
use perilune_bytecode::flow::is_passed;
use perilune_bytecode::{Constant, Op, Proto};

use super::flow::Flow;
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::snapshot::{FieldPath, Snapshot};

/// Most fields that a table gets room for in line; the runtime makes larger ones.
pub(crate) const MAX_FIELDS: usize = 16;

/// The stores of a constructor that follow its NEWTABLE at once, or stores that give the new table
/// its first fields.
pub(crate) struct Constructor {
    /// Those that store a field, each with its slot, in order.
    pub(crate) stores: Vec<(Pc, u32)>,
    /// Where the code continues.
    pub(crate) end: Pc,
    /// The shape that tables begin with, if stores rely on it.
    pub(crate) first: Option<u32>,
    /// The last store that gives the table a field, shape before it, and the entry of its cache.
    pub(crate) last: Option<(Pc, u32, usize)>,
}

/// Finds the constructors of a function.
pub(crate) struct Constructors<'a> {
    pub(crate) proto: &'a Proto,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) flow: &'a Flow,
    /// The stores need not follow from each other's shapes: a fault for tests.
    pub(crate) is_unlinked: bool,
}

impl Constructors<'_> {
    /// Returns the instructions after the one at `pc` that are executed after it and after nothing
    /// else, in order.
    fn straight_after(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let after = Pc::all(self.proto).skip(pc.index() + 1);
        after.take_while(|&q| !self.flow.leader[q] && !self.flow.cold[q] && self.flow.reached[q])
    }

    /// Room for fields that a table made at `pc` is likely to need: what the code says, and what
    /// the stores after it were seen to add.
    pub(crate) fn fields_wanted(&self, pc: Pc) -> usize {
        let mut r = pc.instr(self.proto).ra();
        let mut wanted = pc.instr(self.proto).b();
        for q in self.straight_after(pc) {
            let i = q.instr(self.proto);
            match i.op() {
                Op::SetField | Op::SetFieldK if i.ra() == r => {
                    let seen = self.snapshot.field(q);
                    for path in &seen.paths {
                        if let FieldPath::Gain { slot, .. } = path {
                            wanted = wanted.max(slot.number as usize + 1);
                        }
                    }
                }
                _ if is_passed(i, r.index()) => r = i.ra(),
                op => {
                    let lost = effects(i).changes(r.index());
                    if lost || matches!(op, Op::Return | Op::Return0 | Op::Return1 | Op::Jmp) {
                        break;
                    }
                }
            }
        }
        wanted
    }

    /// Returns the stores right after the NEWTABLE at `pc` that are to fields which the table
    /// begins with, or give it further ones, as far as feedback tells.
    ///
    /// Which fields the table has after them follows from shapes alone: the first store relies on
    /// the shape that the table begins with (the one without fields, if it gives it one), the
    /// others on that in which the one before ended, and a shape is never another one. So the code
    /// has to guard the first shape and the last transition only, in any state. That each was made
    /// by a store to this table would not be enough: hooks and finalizers can store as well. Stores
    /// of nil as a constant do nothing to a field that the table does not have.
    fn constructor(&self, pc: Pc) -> Constructor {
        let a = pc.instr(self.proto).ra();
        let mut found = Constructor { stores: Vec::new(), end: pc + 1, first: None, last: None };
        let mut reached = None;
        for q in self.straight_after(pc) {
            let i = q.instr(self.proto);
            let (stores, is_nil) = match i.op() {
                Op::SetField => (i.ra() == a && i.rc() < a, false),
                Op::SetFieldK => {
                    (i.ra() == a, matches!(self.proto.constants[i.c()], Constant::Nil))
                }
                _ => (false, false),
            };
            if !stores || found.stores.len() == MAX_FIELDS / 2 {
                break;
            }
            let same = |&(before, _): &(Pc, u32)| before.instr(self.proto).b() == i.b();
            if found.stores.iter().any(same) {
                break;
            }
            let follows =
                |shape| reached.is_none_or(|reached| reached == shape) || self.is_unlinked;
            match self.snapshot.field(q).paths[..] {
                [FieldPath::Own { shape, slot, .. }] if follows(shape) => {
                    if reached.is_none() {
                        found.first = Some(shape);
                    }
                    reached = Some(shape);
                    found.stores.push((q, slot.number));
                }
                [FieldPath::Gain { shape, slot, to, entry, plain: true }]
                    if !is_nil && follows(shape) && (reached.is_some() || slot.number == 0) =>
                {
                    reached = Some(to);
                    found.stores.push((q, slot.number));
                    found.last = Some((q, shape, entry));
                }
                [] | [FieldPath::Absent { .. }] if is_nil => {}
                _ => break,
            }
            found.end = q + 1;
        }
        found
    }

    /// Returns what the NEWTABLE at `pc` stores at once, and how many slots the table has with it.
    pub(crate) fn constructed(&self, pc: Pc) -> Option<(Constructor, usize)> {
        if self.fields_wanted(pc) > MAX_FIELDS {
            return None;
        }
        let constructor = self.constructor(pc);
        let slots = constructor.stores.iter().map(|&(_, slot)| slot as usize + 1).max();
        Some((constructor, slots.filter(|&slots| slots <= MAX_FIELDS)?))
    }

    /// Returns the stores after the NEWTABLE at `pc` that its code does.
    pub(crate) fn built_by(&self, pc: Pc) -> Range<Pc> {
        match self.constructed(pc) {
            Some((constructor, _)) => pc + 1..constructor.end,
            None => pc..pc,
        }
    }
}
