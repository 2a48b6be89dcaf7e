//! Ways out of the code: statuses of the runtime, and deoptimization.

use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::layout::state;
use perilune_runtime::tier::status;

use super::Emitter;
use crate::entity::Pc;
use crate::exits::state::{FrameState, Point, Registers};

impl Emitter<'_> {
    /// Exits from the code unless the status is good.
    pub(super) fn check(&mut self, status: Value) {
        let low = self.b.ins().ireduce(I32, status);
        let on = self.next_block();
        self.b.ins().brif(low, self.exit, &[BlockArg::from(status)], on, &[]);
        self.switch_to(on);
    }

    /// Exits from the code with a panic of the runtime if the object that it was to make is null.
    /// The frame is stored.
    pub(super) fn unless_panicked(&mut self, object: Value) -> Value {
        let panicked = self.int(status::PANIC as i64);
        let on = self.next_block();
        let exit = [BlockArg::from(panicked)];
        self.b.ins().brif(object, on, &[], self.exit, &exit);
        self.switch_to(on);
        object
    }

    /// Emits what all exits jump to.
    pub(super) fn exit_block(&mut self) {
        self.switch_to(self.exit);
        let status = self.b.block_params(self.exit)[0];
        let st = self.state();
        let base = self.load64(st, state::BASE);
        let zero = self.int(0);
        if self.body.is_loop {
            // the loop that entered this code takes the frame back
            self.b.ins().return_(&[status, zero, zero, base]);
            return;
        }
        let (resume, out) = (self.block(), self.block());
        let left = self.b.ins().band_imm_u(status, status::RESUME as i64);
        self.branch(left, resume, out);
        self.switch_to(out);
        self.b.ins().return_(&[status, zero, zero, base]);
        // no return address in this code may remain: it does not pin the code any more
        self.switch_to(resume);
        let entry = self.int(self.body.calls.resume as usize as i64);
        let closure = self.load_callee(base);
        let args = [closure, base, zero];
        self.b.ins().return_call_indirect(self.entry_sig, entry, &args);
    }

    /// Ends the block: deoptimizes the frame, before the instruction of the state or after it.
    pub(crate) fn deoptimize(&mut self, state: FrameState) {
        let st = self.state();
        self.store_state(state);
        self.leave(state, st);
    }

    /// As [`Emitter::deoptimize`], in a loop whose FORPREP is at `pc`.
    pub(crate) fn deoptimize_loop(&mut self, pc: Pc) {
        let state = FrameState::home(pc, Point::Prepared);
        self.store_state(state);
        let st = self.state();
        self.leave(state, st);
    }

    /// Stores what is not in the frame yet.
    fn store_state(&mut self, state: FrameState) {
        match state.registers {
            Registers::Home => {}
        }
        self.save_frame(state.frame_pc());
    }

    fn leave(&mut self, state: FrameState, st: Value) {
        let calls = self.body.calls;
        let function = match state.point {
            Point::Before => calls.deoptimize_before as usize,
            Point::After => calls.deoptimize_after as usize,
            Point::Prepared => calls.deoptimize_loop as usize,
        };
        self.exits.add(state);
        let status = self.runtime_word(function, &[st]);
        self.jump_with(self.exit, status);
    }
}
