//! Allocation of closures and of large tables.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::constructor::Constructors;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg, RegisterOperands};

impl Translator<'_> {
    /// Translates NEWTABLE of a table with many fields.
    pub(super) fn new_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (proto, snapshot, flow) = (self.proto, self.snapshot, &self.flow);
        let constructors = Constructors { proto, snapshot, flow, is_unlinked: false };
        let fields = constructors.fields_wanted(pc);
        let t = self.emit.call_new_table(pc, fields);
        self.set(i.ra(), t, Known::Tag(Tag::TABLE));
        // if the collector runs now, it clears the registers above
        self.regs.forget_from(i.ra() + 1);
        let top = self.emit.address(i.ra() + 1);
        self.emit.poll(pc + 1, top);
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
        let c = self.new_closure(pc, slow);
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

    /// Allocates the closure of a CLOSURE; branches to `slow` if there is no room.
    pub(super) fn new_closure(&mut self, pc: Pc, slow: Block) -> Value {
        let i = self.instr(pc);
        let instance = self.emit.inner_instance(i.bx(), slow);
        let upvalues = &self.proto.protos[i.bx()].upvalues;
        // Lower registers come first: each new upvalue is then on top of the list.
        let captured = upvalues.iter().filter(|u| u.in_stack).map(|u| u.index);
        let captured: BTreeSet<_> = captured.collect();
        let captured: BTreeMap<_, _> = captured
            .into_iter()
            .map(|r| (r, self.emit.captured_upvalue(Reg::new(r.into()), slow)))
            .collect();
        let found: Vec<_> = upvalues
            .iter()
            .map(|u| match u.in_stack {
                true => captured[&u.index],
                false => self.emit.upvalue(u.index.into()),
            })
            .collect();
        self.emit.allocate_closure(instance, &found, slow)
    }
}
