//! Ways out of the code: statuses of the runtime, and deoptimization.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::layout::state;
use perilune_runtime::tier::status;

use super::Emitter;
use crate::exits::state::{FrameState, Home, Point, Registers};

impl Emitter<'_> {
    /// Exits from the code unless the status is good. It counts no results.
    pub(super) fn check(&mut self, status: Value) {
        self.check_whether(status, status);
    }

    /// As [`Emitter::check`], of a status with a number in its high half.
    pub(super) fn check_low(&mut self, status: Value) {
        let low = self.b.ins().ireduce(I32, status);
        self.check_whether(low, status);
    }

    fn check_whether(&mut self, failed: Value, status: Value) {
        let on = self.next_block();
        self.b.ins().brif(failed, self.exit, &[BlockArg::from(status)], on, &[]);
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

    /// Emits the exits, and what they share.
    pub(super) fn exit_blocks(&mut self) {
        for (block, state, stores) in std::mem::take(&mut self.deferred) {
            self.switch_to(block);
            self.set_source(state.pc);
            self.store_homes(&stores);
            self.leave(state);
        }
        for (point, block) in std::mem::take(&mut self.deoptimizing) {
            self.deoptimize_at_point(point, block);
        }
        if let Some(block) = self.failure {
            self.fail(block);
        }
        self.exit_block();
    }

    /// Emits what all exits with a status of the runtime jump to.
    fn exit_block(&mut self) {
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

    /// Ends the block: deoptimizes the frame in this state.
    pub(crate) fn deoptimize(&mut self, state: FrameState) {
        self.exits.add(state);
        self.leave(state);
    }

    /// Deoptimizes the frame in this state in `block`, to which nothing branches from here on.
    pub(crate) fn deoptimize_in(&mut self, block: Block, state: FrameState) {
        self.deoptimize_storing(block, state, Vec::new());
    }

    /// As [`Emitter::deoptimize_in`], where registers are to be stored first.
    pub(crate) fn deoptimize_storing(
        &mut self,
        block: Block,
        state: FrameState,
        stores: Vec<Home>,
    ) {
        self.exits.add(state);
        self.deferred.push((block, state, stores));
    }

    /// Stores registers to their home slots.
    pub(crate) fn store_homes(&mut self, stores: &[Home]) {
        for &Home { register, payload, tag } in stores {
            self.store_payload(register, payload);
            if let Some(tag) = tag {
                let tag = self.tag_value(tag);
                self.store_tag(register, tag);
            }
        }
    }

    /// Ends the block: goes to the block that deoptimizes at the point of the state.
    fn leave(&mut self, state: FrameState) {
        match state.registers {
            Registers::Home => {}
        }
        let found = self.deoptimizing.iter().find(|(point, _)| *point == state.point);
        let to = match found {
            Some(&(_, block)) => block,
            None => {
                let block = self.cold_block();
                self.b.append_block_param(block, I64);
                self.deoptimizing.push((state.point, block));
                block
            }
        };
        let word = self.frame_word(state.frame_pc());
        self.jump_with(to, word);
    }

    /// Emits what all states at one point share.
    fn deoptimize_at_point(&mut self, point: Point, block: Block) {
        let calls = self.body.calls;
        let function = match point {
            Point::Before => calls.deoptimize_before as usize,
            Point::After => calls.deoptimize_after as usize,
            Point::Prepared => calls.deoptimize_loop as usize,
        };
        self.switch_to(block);
        let word = self.b.block_params(block)[0];
        self.save_frame_word(word);
        let st = self.state();
        let status = self.runtime_word(function, &[st]);
        self.jump_with(self.exit, status);
    }
}
