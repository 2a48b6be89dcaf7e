//! Safepoints: the poll word, and the count of instructions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Value};
use perilune_runtime::layout::{frame, state};
use perilune_runtime::state::poll;

use super::Emitter;
use super::memory::Region;
use crate::entity::Pc;
use crate::exits::state::Home;
use crate::testing::fault::Fault;

/// Number of iterations between two polls of a counting loop that need not poll in each. A test of
/// the count, which is in a machine register, takes the place of the other polls.
const ITERATIONS_PER_POLL: i64 = 256;

impl Emitter<'_> {
    /// Loads the poll word. Other threads set it, so Cranelift must not reuse an earlier load. It
    /// does not after a call, nor across blocks, since each has its own value for the address of
    /// the state.
    pub(super) fn poll_word(&mut self) -> Value {
        let st = self.state();
        self.load32(Region::State, st, state::POLL)
    }

    /// Handles the requests in the poll word; the frame continues at `pc`, and `top` is the end of
    /// its values.
    pub(crate) fn poll(&mut self, pc: Pc, top: Value) {
        let word = self.poll_word();
        let (cold, on) = (self.cold_block(), self.block());
        self.branch(word, cold, on);
        self.switch_to(cold);
        let word = self.frame_word(pc);
        self.call_poll(word, top);
        self.jump(on);
        self.switch_to(on);
    }

    /// Like [`Emitter::poll`], in a loop that continues at `pc`, but stores registers first, and
    /// materializes virtual tables if there are any in the registers. A quiet poll changes neither
    /// the base nor memory, except home slots, the state and the flags of objects.
    ///
    /// `left` is the number of further iterations of a loop that polls only once in
    /// [`ITERATIONS_PER_POLL`] iterations, and never in the last ones. Loops whose instructions are
    /// counted poll in each iteration, since the poll stops the script when the fuel is used up.
    pub(crate) fn poll_in_loop(
        &mut self,
        pc: Pc,
        stores: &[Home],
        has_virtuals: bool,
        is_quiet: bool,
        left: Option<Value>,
    ) {
        let (cold, on) = (self.cold_block(), self.block());
        if let Some(left) = left.filter(|_| !self.body.counts) {
            let due = self.cold_block();
            let before = self.b.ins().iadd_imm_s(left, 1);
            let since = self.b.ins().band_imm_u(before, ITERATIONS_PER_POLL - 1);
            self.branch(since, on, due);
            self.switch_to(due);
        }
        let word = self.poll_word();
        self.branch(word, cold, on);
        self.switch_to(cold);
        self.store_homes(stores);
        self.materialize();
        if has_virtuals {
            self.allocate_virtuals(pc);
        }
        if is_quiet && self.body.fault == Some(Fault::LoudPolls) {
            self.quiet_step(self.body.calls.preserving_poll as usize, pc);
        } else if is_quiet {
            self.quiet_step(self.body.calls.preserving_quiet_poll as usize, pc);
        } else {
            self.preserving_step(self.body.calls.preserving_poll as usize, pc);
        }
        self.jump(on);
        self.switch_to(on);
    }

    /// Polls quietly where the values of the frame end at `top`, and all are in their home slots.
    pub(crate) fn quiet_poll_to(&mut self, pc: Pc, top: Value) {
        let word = self.poll_word();
        let (cold, on) = (self.cold_block(), self.next_block());
        self.branch(word, cold, on);
        self.switch_to(cold);
        let st = self.state();
        self.store(Region::State, top, st, state::RETURNED_BITS);
        self.quiet_step(self.body.calls.preserving_quiet_poll_to as usize, pc);
        self.jump(on);
        self.switch_to(on);
    }

    /// Handles the requests in the poll word after a call; the frame continues at the pc in its
    /// frame word, or `skip` instructions later, and `top` is the end of its values.
    ///
    /// The frame word is loaded from where it was stored before the call. As a constant, it would
    /// be the same value as the stored one, which would then live across the call in a callee-saved
    /// register.
    pub(crate) fn poll_after_call(&mut self, skip: Option<Value>, top: Value) {
        let base = self.base();
        let word = self.load(Region::Slots, I64, base, frame::WORD);
        let word = match skip {
            Some(skip) => self.b.ins().iadd(word, skip),
            None => word,
        };
        self.call_poll(word, top);
    }

    fn call_poll(&mut self, word: Value, top: Value) {
        let base = self.base();
        let poll = self.body.calls.poll as usize;
        let (status, base) = self.preserving_leaf(poll, &[base, word, top]);
        self.check(status);
        self.set_base(base);
    }

    /// Counts the instructions of a loop's iteration, at the back edge from `pc` to `target`. If
    /// the fuel does not suffice, the next poll stops the script, as requested by
    /// [`State::out_of_fuel`]. Emits nothing unless instructions are counted.
    ///
    /// [`State::out_of_fuel`]: perilune_runtime::state::State::out_of_fuel
    pub(crate) fn charge(&mut self, pc: Pc, target: Pc) {
        if !self.body.counts {
            return;
        }
        let (left, enough) = self.fuel_after(pc - target + 1);
        let (out, paid, on) = (self.cold_block(), self.block(), self.block());
        self.branch(enough, paid, out);
        self.switch_to(out);
        let st = self.state();
        let place = self.b.ins().iadd_imm_s(st, state::POLL as i64);
        let bits = i64::from(poll::INTERRUPT | poll::OUT_OF_FUEL);
        let bits = self.b.ins().iconst(I32, bits);
        self.b.ins().atomic_rmw(I32, MemFlagsData::trusted(), AtomicRmwOp::Or, place, bits);
        self.jump(on);
        self.switch_to(paid);
        self.set_fuel(left);
        self.jump(on);
        self.switch_to(on);
    }

    /// Returns the fuel that remains after `cost` instructions, and whether the fuel suffices for
    /// them.
    pub(super) fn fuel_after(&mut self, cost: usize) -> (Value, Value) {
        let st = self.state();
        let fuel = self.load64(Region::State, st, state::FUEL);
        let cost = self.int(cost as i64);
        let enough = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, fuel, cost);
        (self.b.ins().isub(fuel, cost), enough)
    }

    pub(super) fn set_fuel(&mut self, left: Value) {
        let st = self.state();
        self.store(Region::State, left, st, state::FUEL);
    }
}
