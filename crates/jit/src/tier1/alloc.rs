//! New tables, with the fields that a constructor gives them, and closures.

use std::ops::Range;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Op};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::FieldPath;
use crate::testing::fault::Fault;

/// Most fields that a table gets room for in line; the runtime makes larger ones.
const MAX_FIELDS: usize = 16;

/// The stores of a constructor that follow its NEWTABLE at once, or stores that give the new table
/// its first fields.
struct Constructor {
    /// Those that store a field, each with its slot, in order.
    stores: Vec<(Pc, u32)>,
    /// Where the code continues.
    end: Pc,
    /// The shape that tables begin with, if stores rely on it.
    first: Option<u32>,
    /// The last store that gives the table a field, shape before it, and the entry of its cache.
    last: Option<(Pc, u32, usize)>,
}

/// A field of a new table: its slot, and payload and tag of its value.
pub(crate) type FirstField = (u32, Value, Known);

impl Translator<'_> {
    /// Returns the instructions after the one at `pc` that are executed after it and after nothing
    /// else, in order.
    fn straight_after(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let after = Pc::all(self.proto).skip(pc.index() + 1);
        after.take_while(|&q| !self.flow.leader[q] && !self.flow.cold[q] && self.flow.reached[q])
    }

    /// Room for fields that a table made at `pc` is likely to need: what the code says, and what
    /// the stores after it were seen to add.
    fn fields_wanted(&self, pc: Pc) -> usize {
        let mut r = self.instr(pc).ra();
        let mut wanted = self.instr(pc).b();
        for q in self.straight_after(pc) {
            let i = self.instr(q);
            match i.op() {
                Op::SetField | Op::SetFieldK if i.ra() == r => {
                    let seen = self.snapshot.field(q);
                    for path in &seen.paths {
                        if let FieldPath::Gain { slot, .. } = path {
                            wanted = wanted.max(*slot as usize + 1);
                        }
                    }
                }
                // most likely `setmetatable`, which returns its argument
                Op::Call | Op::CallMeta if i.ra() + 2 == r && i.c() == 2 => r = i.ra(),
                op => {
                    let e = effects(i);
                    let lost =
                        e.writes.iter().any(|&(from, n)| (from..from + n).contains(&r.index()))
                            || e.releases.is_some_and(|from| from <= r.index());
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
        let a = self.instr(pc).ra();
        let mut found = Constructor { stores: Vec::new(), end: pc + 1, first: None, last: None };
        let mut reached = None;
        let unlinked = self.fault == Some(Fault::UnlinkedConstructor);
        for q in self.straight_after(pc) {
            let i = self.instr(q);
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
            let same = |&(before, _): &(Pc, u32)| self.instr(before).b() == i.b();
            if found.stores.iter().any(same) {
                break;
            }
            let follows = |shape| reached.is_none_or(|reached| reached == shape) || unlinked;
            match self.snapshot.field(q).paths[..] {
                [FieldPath::Own { shape, slot, .. }] if follows(shape) => {
                    if reached.is_none() {
                        found.first = Some(shape);
                    }
                    reached = Some(shape);
                    found.stores.push((q, slot));
                }
                [FieldPath::Gain { shape, slot, to, entry, plain: true }]
                    if !is_nil && follows(shape) && (reached.is_some() || slot == 0) =>
                {
                    reached = Some(to);
                    found.stores.push((q, slot));
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
    fn constructed(&self, pc: Pc) -> Option<(Constructor, usize)> {
        if self.fields_wanted(pc) > MAX_FIELDS {
            return None;
        }
        let constructor = self.constructor(pc);
        let slots = constructor.stores.iter().map(|&(_, slot)| slot as usize + 1).max();
        Some((constructor, slots.filter(|&slots| slots <= MAX_FIELDS)?))
    }

    /// Returns the stores after the NEWTABLE at `pc` that its code does.
    pub(super) fn built_by(&self, pc: Pc) -> Range<Pc> {
        match self.constructed(pc) {
            Some((constructor, _)) => pc + 1..constructor.end,
            None => pc..pc,
        }
    }

    /// NEWTABLE, with the stores of its constructor.
    pub(super) fn new_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let fields = self.fields_wanted(pc);
        if fields > MAX_FIELDS {
            let t = self.emit.call_new_table(pc, fields);
            self.set(i.ra(), t, Known::Tag(Tag::TABLE));
            // the collector clears what lies above, should it run now
            self.regs.forget_from(i.ra() + 1);
            let top = self.emit.address(i.ra() + 1);
            self.emit.poll(pc + 1, top);
            return;
        }
        if let Some((constructor, slots)) = self.constructed(pc) {
            self.built = pc + 1..constructor.end;
            return self.construct(pc, fields.max(slots), &constructor);
        }
        let slow = self.emit.cold_block();
        let (done, made) = self.emit.block_of_word();
        let shape = self.emit.site_shape(self.site_of(pc), i.b(), slow);
        let t = self.emit.allocate_table((fields, i.c()), shape, |_| false, slow);
        self.store_home(i.ra(), t, Known::Tag(Tag::TABLE));
        self.emit.jump_with(done, t);
        self.emit.switch_to(slow);
        let t = self.emit.call_new_table(pc, fields);
        self.store_home(i.ra(), t, Known::Tag(Tag::TABLE));
        self.poll_new(i.ra(), pc + 1, done);
        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.ra() + 1);
    }

    /// The number of the record of the NEWTABLE at `pc`.
    fn site_of(&self, pc: Pc) -> usize {
        self.snapshot.cell(pc) as usize
    }

    /// NEWTABLE with all that its constructor stores.
    fn construct(&mut self, pc: Pc, fields: usize, c: &Constructor) {
        let i = self.instr(pc);
        let (one_by_one, slow) = (self.emit.cold_block(), self.emit.cold_block());
        let (done, made) = self.emit.block_of_word();
        // what is loaded here is still known at the end, so it comes before all guards
        let mut values: Vec<FirstField> = Vec::with_capacity(c.stores.len());
        for &(q, slot) in &c.stores {
            let (bits, tag) = self.stored(self.instr(q));
            values.push((slot, bits, tag));
        }
        for (&(q, _), &(_, _, tag)) in c.stores.iter().zip(&values) {
            let gains = !matches!(self.snapshot.field(q).paths[..], [FieldPath::Own { .. }]);
            if gains && !matches!(tag, Known::Tag(t) if t != Tag::NIL) {
                let t = self.emit.tag_value(tag);
                self.emit.guard(t, one_by_one);
            }
        }
        let mut shape = self.emit.site_shape(self.site_of(pc), i.b(), one_by_one);
        if let Some(id) = c.first {
            self.emit.guard_shape_id(shape, id, one_by_one);
        }
        if let Some((q, before, entry)) = c.last {
            let r = self.emit.record(self.snapshot.cell(q) as usize, entry, one_by_one);
            self.emit.guard_record_id(r, before, one_by_one);
            shape = self.emit.successor(r, one_by_one);
        }

        let is_stored = |slot| values.iter().any(|&(stored, ..)| stored as usize == slot);
        let t = self.emit.allocate_table((fields, i.c()), shape, is_stored, slow);
        self.finish_table(pc, t, Some((shape, &values)));
        self.emit.jump_with(done, t);

        self.emit.switch_to(slow);
        let t = self.emit.call_new_table(pc, fields);
        self.finish_table(pc, t, Some((shape, &values)));
        self.poll_new(i.ra(), c.end, done);

        self.emit.switch_to(one_by_one);
        let t = self.emit.call_new_table(pc, fields);
        self.finish_table(pc, t, None);
        let top = self.emit.address(i.ra() + 1);
        self.emit.poll(pc + 1, top);
        for &(q, _) in &c.stores {
            self.emit.generic(q);
        }
        let t = self.emit.load_register(i.ra(), I64).0;
        self.emit.jump_with(done, t);

        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.ra() + 1);
    }

    /// Stores the first fields of the new table `t` and their shape, and puts it into its register.
    fn finish_table(&mut self, pc: Pc, t: Value, fields: Option<(Value, &[FirstField])>) {
        if let Some((shape, values)) = fields {
            self.emit.store_first_fields(t, shape, values);
        }
        self.store_home(self.instr(pc).ra(), t, Known::Tag(Tag::TABLE));
    }

    /// Ends the cold block in which the object in register `r` was made by the runtime: polls, and
    /// goes to `done` with the object. The frame continues at `pc`.
    fn poll_new(&mut self, r: Reg, pc: Pc, done: Block) {
        let top = self.emit.address(r + 1);
        self.emit.poll(pc, top);
        let object = self.emit.load_register(r, I64).0;
        self.emit.jump_with(done, object);
    }

    /// CLOSURE.
    pub(super) fn make_closure(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let slow = self.emit.cold_block();
        let (done, made) = self.emit.block_of_word();
        let instance = self.emit.inner_instance(i.bx(), slow);
        let upvalues = &self.proto.protos[i.bx()].upvalues;
        let mut found = Vec::with_capacity(upvalues.len());
        for u in upvalues {
            found.push(if u.in_stack {
                self.emit.captured_upvalue(Reg::new(u.index.into()), slow)
            } else {
                self.emit.upvalue(u.index.into())
            });
        }
        let c = self.emit.allocate_closure(instance, &found, slow);
        self.store_home(i.ra(), c, Known::Tag(Tag::FUNCTION));
        self.emit.jump_with(done, c);

        self.emit.switch_to(slow);
        let c = self.emit.call_new_closure(pc, i.bx());
        self.store_home(i.ra(), c, Known::Tag(Tag::FUNCTION));
        self.poll_new(i.ra(), pc + 1, done);

        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::FUNCTION));
        self.regs.forget_from(i.ra() + 1);
    }
}
