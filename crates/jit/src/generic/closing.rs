//! Translates the instructions that close variables.

use cranelift_codegen::ir::Block;
use perilune_bytecode::{Instr, Op};

use super::Translator;
use crate::codegen::memory::Regions;
use crate::entity::{Pc, RegisterOperands};

impl Translator<'_> {
    /// Translates TBC.
    pub(super) fn mark_to_close(&mut self, pc: Pc) {
        let place = self.emit.address(self.instr(pc).ra());
        let st = self.emit.state();
        let done = self.emit.runtime_word(self.calls.mark_to_close as usize, &[st, place]);
        self.emit.unless_generic(pc, done);
    }

    /// Translates CLOSE, which runs until everything is closed. Calls `__close` if it is a Lua
    /// function; the interpreter does everything else.
    pub(super) fn close(&mut self, pc: Pc) {
        let place = self.emit.address(self.instr(pc).ra());
        if !self.has_values_to_close(self.instr(pc).a()) {
            return self.emit.close_upvalues(place);
        }
        let st = self.emit.state();
        let done = self.emit.runtime_word(self.calls.close as usize, &[st, place]);
        let (again, out) = (self.emit.cold_block(), self.emit.block());
        self.emit.branch(done, out, again);
        self.emit.switch_to_loop(again, Regions::default());
        if self.has_variables_to_close(pc) {
            self.close_variable(pc, again, out);
        }
        self.emit.generic(pc);
        let done = self.emit.has_continued_at(pc + 1);
        self.emit.branch(done, out, again);
        self.emit.switch_to(out);
        self.regs.forget_all();
    }

    /// Returns whether registers from `level` on may be marked to be closed.
    pub(super) fn has_values_to_close(&self, level: usize) -> bool {
        let marks = |i: &Instr| match i.op() {
            Op::Tbc => i.a() >= level,
            Op::TForPrep => i.a() + 3 >= level,
            _ => false,
        };
        self.proto.code.iter().any(marks)
    }

    /// Returns whether the CLOSE at `pc` is for declared variables, not only for a loop's value,
    /// which is mostly nil.
    fn has_variables_to_close(&self, pc: Pc) -> bool {
        let a = self.instr(pc).a();
        self.proto.code.iter().any(|i| i.op() == Op::Tbc && i.a() >= a)
    }

    /// Calls the `__close` of the next variable if it is a Lua function; otherwise continues. After
    /// the call, goes to `out` if everything is closed, else to `again`.
    fn close_variable(&mut self, pc: Pc, again: Block, out: Block) {
        let (st, base) = (self.emit.state(), self.emit.base());
        let place = self.emit.address(self.instr(pc).ra());
        let next = self.emit.runtime_word(self.calls.next_to_close as usize, &[st, base, place]);
        let (call, other) = (self.emit.block(), self.emit.cold_block());
        self.emit.branch(next, call, other);
        self.emit.switch_to(call);
        let a = self.above();
        let base = self.emit.begin_call(a, pc + 1);
        let nargs = self.emit.int(2);
        let results = self.emit.call_slot(&[next, base, nargs]);
        let returned = self.emit.end_call(a, results);
        let closed = self.emit.block();
        self.emit.switch_to(returned.good);
        self.emit.jump(closed);
        let polled = self.emit.pass_on_failure(&returned);
        self.emit.switch_to(polled);
        // the frame is at the instruction again, for the next variable
        let top = self.emit.frame_end();
        self.emit.poll(pc, top);
        self.emit.jump(closed);
        self.emit.switch_to(closed);
        let place = self.emit.address(self.instr(pc).ra());
        let st = self.emit.state();
        let done = self.emit.runtime_word(self.calls.close as usize, &[st, place]);
        self.emit.branch(done, out, again);
        self.emit.switch_to(other);
    }
}
