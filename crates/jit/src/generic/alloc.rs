//! Allocation of tables, with the fields that their constructors store, and of closures.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::constructor::{Constructor, Constructors, MAX_FIELDS};
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::FieldPath;
use crate::testing::fault::Fault;

/// A field of a new table: its slot, and payload and tag of its value.
pub(crate) type FirstField = (u32, Value, Known);

impl Translator<'_> {
    fn constructors(&self) -> Constructors<'_> {
        let (proto, snapshot, flow) = (self.proto, self.snapshot, &self.flow);
        let is_unlinked = self.fault == Some(Fault::UnlinkedConstructor);
        Constructors { proto, snapshot, flow, is_unlinked }
    }

    /// Translates NEWTABLE, with the stores of its constructor.
    pub(super) fn new_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let fields = self.constructors().fields_wanted(pc);
        if fields > MAX_FIELDS {
            let t = self.emit.call_new_table(pc, fields);
            self.set(i.ra(), t, Known::Tag(Tag::TABLE));
            // if the collector runs now, it clears the registers above
            self.regs.forget_from(i.ra() + 1);
            let top = self.emit.address(i.ra() + 1);
            self.emit.poll(pc + 1, top);
            return;
        }
        if let Some((constructor, slots)) = self.constructors().constructed(pc) {
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

    /// Returns the number of the record of the NEWTABLE at `pc`.
    fn site_of(&self, pc: Pc) -> usize {
        self.snapshot.cell(pc) as usize
    }

    /// Translates NEWTABLE with the stores of its constructor `c`.
    fn construct(&mut self, pc: Pc, fields: usize, c: &Constructor) {
        let i = self.instr(pc);
        let (one_by_one, slow) = (self.emit.cold_block(), self.emit.cold_block());
        let (done, made) = self.emit.block_of_word();
        // values are loaded before all guards, so that they are still known at the end
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

    /// Ends the cold block in which the runtime allocated the object in register `r`: polls, and
    /// goes to `done` with the object. The frame continues at `pc`.
    fn poll_new(&mut self, r: Reg, pc: Pc, done: Block) {
        let top = self.emit.address(r + 1);
        self.emit.poll(pc, top);
        let object = self.emit.load_register(r, I64).0;
        self.emit.jump_with(done, object);
    }

    /// Translates CLOSURE.
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
