//! Closing upvalues: moves variables that closures share off the stack.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::layout::{closure, state, thread, value};

use super::Emitter;
use super::memory::{Region, Regions};
use super::value::Known;

impl Emitter<'_> {
    /// Closes the running coroutine's open upvalues at or above `level`, as
    /// `State::close_upvalues` does.
    pub(crate) fn close_upvalues(&mut self, level: Value) {
        let (next, some, open, done) = (self.block(), self.block(), self.block(), self.block());
        self.jump(next);
        self.switch_to_loop(next, Regions::default());
        let st = self.state();
        let th = self.load64(Region::State, st, state::THREAD);
        let up = self.load64(Region::State, th, thread::OPEN);
        self.branch(up, some, done);
        self.switch_to(some);
        let place = self.upvalue_place(up);
        let is_below = self.b.ins().icmp(IntCC::UnsignedLessThan, place, level);
        self.branch(is_below, done, open);
        self.switch_to(open);
        // an open upvalue has the next one where the value of a closed one is
        let rest = self.load64(Region::Slots, up, closure::CLOSED);
        self.store(Region::State, rest, th, thread::OPEN);
        let (bits, tag) = self.load_value(Region::Slots, place, 0);
        self.store(Region::Slots, bits, up, closure::CLOSED);
        self.store8(Region::Slots, tag, up, closure::CLOSED + value::TAG);
        let closed = self.b.ins().iadd_imm_s(up, closure::CLOSED as i64);
        self.store(Region::Objects, closed, up, closure::PLACE);
        self.barrier(up, (bits, Known::Value(tag)));
        self.jump(next);
        self.switch_to(done);
    }
}
