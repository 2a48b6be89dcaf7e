//! Constructors of tables: the stores immediately after a NEWTABLE.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::effects::effects;
use perilune_bytecode::flow::is_passed;
use perilune_bytecode::{Constant, Op, Proto};

use super::flow::Flow;
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::snapshot::{FieldPath, Snapshot};

/// The maximum number of fields of a table that is allocated inline; the runtime allocates larger
/// ones.
pub(crate) const MAX_FIELDS: usize = 16;

/// The stores immediately after a NEWTABLE: those of its constructor, or others that give the new
/// table its first fields.
pub(crate) struct Constructor {
    /// The stores to fields, each with its slot, in order.
    pub(crate) stores: Vec<(Pc, u32)>,
    /// The pc where the code continues.
    pub(crate) end: Pc,
    /// The initial shape of the table, if stores rely on it.
    pub(crate) first: Option<u32>,
    /// The last store that adds a field, the shape of the table before it, and the entry of its
    /// cache.
    pub(crate) last: Option<(Pc, u32, usize)>,
    /// The shape that the table has after the stores, if there are any.
    pub(crate) shape: Option<u32>,
}

impl Constructor {
    /// Returns a constructor without stores for the NEWTABLE at `pc`.
    pub(crate) fn without_stores(pc: Pc) -> Constructor {
        Constructor { stores: Vec::new(), end: pc + 1, first: None, last: None, shape: None }
    }
}

/// The maximum number of items of a list that is stored inline; the runtime stores longer ones.
pub(crate) const MAX_ITEMS: usize = 8;

/// The items that SETLIST stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Items {
    /// The number of items, unless the list ends with all results of the preceding instruction.
    pub(crate) count: Option<usize>,
    /// The number of items for which the constructor has allocated the table.
    pub(crate) expected: usize,
}

/// Returns the items that the SETLIST at `pc` stores, if they are few and are all elements of the
/// table that its constructor has allocated.
pub(crate) fn items(proto: &Proto, pc: Pc) -> Option<Items> {
    let i = pc.instr(proto);
    if i.b() > MAX_ITEMS || (pc + 1).instr(proto).ax_value() != 0 {
        return None;
    }
    let before = proto.code[..pc.index()].iter().rev();
    let of_table = before.filter(|before| before.a() == i.a());
    let stores = [Op::SetTable, Op::SetTableK, Op::SetI, Op::SetIK, Op::SetList];
    let first =
        of_table.into_iter().find(|i| i.op() == Op::NewTable || stores.contains(&i.op()))?;
    let (count, expected) = (Some(i.b()).filter(|&count| count > 0), first.c());
    let is_first = first.op() == Op::NewTable && count.is_none_or(|count| count == expected);
    is_first.then_some(Items { count, expected })
}

/// Finds the constructors of a function.
pub(crate) struct Constructors<'a> {
    pub(crate) proto: &'a Proto,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) flow: &'a Flow,
    /// Whether stores are accepted even if their shapes do not follow from each other: a fault for
    /// tests.
    pub(crate) is_unlinked: bool,
}

impl Constructors<'_> {
    /// Returns the instructions that are executed after the one at `pc` in sequence, and are not
    /// reached otherwise.
    fn straight_after(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let after = Pc::all(self.proto).skip(pc.index() + 1);
        after.take_while(|&q| !self.flow.leader[q] && !self.flow.cold[q] && self.flow.reached[q])
    }

    /// Returns the number of fields that a table allocated at `pc` is likely to need: those in the
    /// code, and those that later stores were seen to add.
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

    /// Returns the stores right after the NEWTABLE at `pc` to fields that the table already has, or
    /// that they add, according to feedback.
    ///
    /// The fields that the table has afterwards follow from shapes alone: the first store relies on
    /// the shape that the table has at first (the one without fields, if the store adds one), every
    /// other store on the shape after the previous one, and shapes are immutable. So the code has
    /// to guard only the first shape and the last transition, in any state. It would not suffice
    /// that each transition was seen in a store to this table: hooks and finalizers can store as
    /// well. A store of the constant nil does nothing to a field that the table does not have.
    fn constructor(&self, pc: Pc) -> Constructor {
        let a = pc.instr(self.proto).ra();
        let mut found = Constructor::without_stores(pc);
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
        found.shape = reached;
        found
    }

    /// Returns the stores that the code of the NEWTABLE at `pc` includes, and the number of slots
    /// that the table needs for them.
    pub(crate) fn constructed(&self, pc: Pc) -> Option<(Constructor, usize)> {
        if self.fields_wanted(pc) > MAX_FIELDS {
            return None;
        }
        let constructor = self.constructor(pc);
        let slots = constructor.stores.iter().map(|&(_, slot)| slot as usize + 1).max();
        Some((constructor, slots.filter(|&slots| slots <= MAX_FIELDS)?))
    }
}
