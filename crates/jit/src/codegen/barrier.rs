//! The write barrier.

use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout::header;
use perilune_runtime::value::Tag;

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
        let on = self.block();
        match tag {
            Known::Tag(t) if !t.is_collectable() => {
                self.jump(on);
                self.switch_to(on);
                return;
            }
            Known::Tag(_) => {}
            Known::Value(t) => {
                let check = self.block();
                let c = self.b.ins().band_imm_u(t, Tag::COLLECTABLE as i64);
                self.branch(c, check, on);
                self.switch_to(check);
            }
        }
        let cold = self.cold_block();
        let flags = self.flags(owner);
        let unlogged = self.is_unlogged(flags);
        self.branch(unlogged, cold, on);
        self.switch_to(cold);
        self.preserving(self.body.calls.preserving_barrier as usize, &[owner, bits]);
        self.jump(on);
        self.switch_to(on);
    }

    /// Loads the flags of an object.
    pub(crate) fn flags(&mut self, object: Value) -> Value {
        self.load8(Region::Objects, object, header::FLAGS)
    }

    /// Returns whether the flags of an object say that a store into it needs the barrier.
    pub(crate) fn is_unlogged(&mut self, flags: Value) -> Value {
        self.b.ins().band_imm_u(flags, GcHeader::UNLOGGED as i64)
    }
}
