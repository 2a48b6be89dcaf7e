//! The frames of `pcall` and of the function that it calls.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::layout::{frame, state, thread};
use perilune_runtime::tier::status;

use super::Emitter;
use super::call::Returned;
use super::memory::Region;
use crate::entity::{Pc, Reg};

/// The word of a frame of `pcall` that waits for its callee: it continues at step 1.
const WAITING: FrameWord = FrameWord::waiting(1, Frame::PROTECTED_KEEPS as u32);

impl Emitter<'_> {
    /// Loads the depth of calls from native code; branches to `other` if it has reached `limit`.
    pub(crate) fn native_depth(&mut self, limit: u32, other: Block) -> Value {
        let st = self.state();
        let depth = self.load32(Region::State, st, state::NATIVE_DEPTH);
        let deep =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, depth, i64::from(limit));
        self.guard_not(deep, other);
        depth
    }

    /// Stores the headers of this frame, which continues at `pc`, of a frame of `pcall` with
    /// register 0 in register `first`, and of its callee; returns the base of the callee. `depth`
    /// is the native depth, which is one more in the callee.
    pub(crate) fn begin_protected(&mut self, first: Reg, pc: Pc, depth: Value) -> Value {
        let st = self.state();
        let deeper = self.b.ins().iadd_imm_s(depth, 1);
        self.store(Region::State, deeper, st, state::NATIVE_DEPTH);
        let running = self.load64(Region::State, st, state::THREAD);
        let bottom = self.load32(Region::Objects, running, thread::DEPTH);
        let relative = self.b.ins().isub(depth, bottom);
        let relative = self.b.ins().uextend(I64, relative);
        let relative = self.b.ins().ishl_imm_u(relative, i64::from(Link::EXTRA_SHIFT));
        let base = self.base();
        let word = self.frame_word(pc);
        self.store(Region::Slots, word, base, frame::WORD);
        let word = self.int(WAITING.0 as i64);
        let header = frame::slot(first.index());
        self.store(Region::Slots, word, base, header + frame::WORD);
        let link = self.int(Link::new(flags::PROTECTED, 0, first.index()).0 as i64);
        let link = self.b.ins().bor(link, relative);
        self.store(Region::Slots, link, base, header + frame::LINK);
        let callee = first + Frame::PROTECTED_CALLEE;
        let link = Link::new(flags::CONTINUED, 0, Frame::PROTECTED_CALLEE);
        let link = self.int(link.0 as i64);
        self.store(Region::Slots, link, base, frame::slot(callee.index()) + frame::LINK);
        self.address(callee)
    }

    /// Leaves the frame of a `pcall` whose callee has returned.
    pub(crate) fn leave_protected(&mut self) {
        let st = self.state();
        let depth = self.load32(Region::State, st, state::NATIVE_DEPTH);
        let depth = self.b.ins().iadd_imm_s(depth, -1);
        self.store(Region::State, depth, st, state::NATIVE_DEPTH);
    }

    /// Ends the call of a function in register `inner` by `pcall` for the cases other than a plain
    /// return; returns the block in which the call has ended. Leaves this frame if the function has
    /// yielded.
    pub(crate) fn end_protected(&mut self, returned: &Returned, inner: Reg, pc: Pc) -> Block {
        let passed = self.pass_on_other_failure(returned, status::ERROR);
        self.switch_to(passed);
        let callee = self.callee_base(inner);
        let (status, bits, tag) = (returned.status, returned.bits, returned.tag);
        let args = [callee, status, bits, tag];
        self.runtime_step(self.body.calls.end_protected as usize, pc, &args);
        let ended = self.block();
        self.jump(ended);
        ended
    }
}
