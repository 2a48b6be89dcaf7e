//! The write barrier, and the other checks of an object's flags before a store.

use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout::header;
use perilune_runtime::layout::value::UNLOGGED_SHIFT;
use perilune_runtime::table::WATCHED;

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::testing::fault::Fault;

impl Emitter<'_> {
    /// Emits the write barrier of `owner`, into which the value `bits` with this tag was stored.
    pub(crate) fn barrier(&mut self, owner: Value, (bits, tag): (Value, Known)) {
        if self.body.fault == Some(Fault::NoBarrier) {
            return;
        }
        if matches!(tag, Known::Tag(t) if !t.is_collectable()) {
            return;
        }
        let flags = self.flags(owner);
        let due = self.due_flags(flags, tag, 0);
        let (cold, on) = (self.cold_block(), self.block());
        self.branch(due, cold, on);
        self.switch_to(cold);
        self.call_barrier(owner, bits, on);
    }

    /// Emits the checks before a store to a field of `owner`: branches to `other` if the table is a
    /// metatable or a class, and does what [`Emitter::barrier`] does for the value. One test of the
    /// table's flags serves both.
    pub(crate) fn before_field_store(
        &mut self,
        owner: Value,
        (bits, tag): (Value, Known),
        other: Block,
    ) {
        let flags = self.flags(owner);
        if matches!(tag, Known::Tag(t) if !t.is_collectable())
            || self.body.fault == Some(Fault::NoBarrier)
        {
            return self.guard_not_watched(flags, other);
        }
        let due = self.due_flags(flags, tag, WATCHED);
        let (cold, on) = (self.cold_block(), self.block());
        self.branch(due, cold, on);
        self.switch_to(cold);
        let watched = self.b.ins().band_imm_u(flags, i64::from(WATCHED));
        let barrier = self.cold_block();
        self.branch(watched, other, barrier);
        self.switch_to(barrier);
        self.call_barrier(owner, bits, on);
    }

    /// Ends the block: calls the barrier and continues in `on`.
    fn call_barrier(&mut self, owner: Value, bits: Value, on: Block) {
        let barrier = self.body.calls.barrier as usize;
        self.quiet_leaf(barrier, &[owner, bits]);
        self.available.change(self.b.func, Region::Flags);
        self.jump(on);
        self.switch_to(on);
    }

    /// Emits the barrier of a table that has gained a field with this value, and so `shape`.
    pub(crate) fn barrier_of_gain(&mut self, table: Value, shape: Value, v: (Value, Known)) {
        if self.body.fault == Some(Fault::NoBarrier) {
            return;
        }
        let flags = self.flags(table);
        let unlogged = self.is_unlogged(flags);
        let (cold, on) = (self.cold_block(), self.block());
        self.branch(unlogged, cold, on);
        self.switch_to(cold);
        let barrier = self.body.calls.barrier as usize;
        self.quiet_leaf(barrier, &[table, shape]);
        self.available.change(self.b.func, Region::Flags);
        // A big table keeps its state, and may need a barrier for the value too.
        self.barrier(table, v);
        self.jump(on);
        self.switch_to(on);
    }

    /// Returns those of `flags` that matter for a store of a value with this tag: `also`, and the
    /// flag of an unlogged owner if the value is collectable.
    fn due_flags(&mut self, flags: Value, tag: Known, also: u8) -> Value {
        match tag {
            Known::Tag(t) => {
                self.b.ins().band_imm_u(flags, i64::from(also | t.0 >> UNLOGGED_SHIFT))
            }
            Known::Value(t) => {
                let unlogged = self.b.ins().ushr_imm_u(t, i64::from(UNLOGGED_SHIFT));
                let mask = self.b.ins().bor_imm_u(unlogged, i64::from(also));
                self.b.ins().band(flags, mask)
            }
        }
    }

    /// Loads the flags of an object.
    pub(crate) fn flags(&mut self, object: Value) -> Value {
        self.load8(Region::Flags, object, header::FLAGS)
    }

    /// Returns whether the flags of an object say that a store into it needs the barrier.
    pub(crate) fn is_unlogged(&mut self, flags: Value) -> Value {
        self.b.ins().band_imm_u(flags, GcHeader::UNLOGGED as i64)
    }
}
