//! The extra arguments of a vararg function, which are below its frame.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::frame::{Frame, Link};
use perilune_runtime::layout::{frame, state, value};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::{Region, Regions};
use crate::entity::Reg;

impl Emitter<'_> {
    /// Returns the number of extra arguments.
    pub(crate) fn extra_count(&mut self) -> Value {
        let base = self.outermost_base();
        self.extra_count_of(base)
    }

    /// Returns the number of extra arguments of an outermost frame at `base`.
    pub(super) fn extra_count_of(&mut self, base: Value) -> Value {
        let link = self.load(Region::Slots, I64, base, frame::LINK);
        let extra = self.b.ins().ushr_imm_u(link, i64::from(Link::EXTRA_SHIFT));
        self.b.ins().band_imm_u(extra, Link::EXTRA_MASK as i64)
    }

    /// Copies all extra arguments to the registers from `a` on, and sets the top of the stack to
    /// their end. Branches to `full` if the stack has no room for them.
    pub(crate) fn copy_extra(&mut self, a: Reg, full: Block) {
        let base = self.base();
        let count = self.extra_count_of(base);
        let size = self.b.ins().ishl_imm_u(count, i64::from(value::LOG_SIZE));
        let to = self.address(a);
        let end = self.b.ins().iadd(to, size);
        let st = self.state();
        let limit = self.load64(Region::State, st, state::LIMIT);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.guard(fits, full);
        let st = self.state();
        self.store(Region::State, end, st, state::TOP);
        let header = self.b.ins().iadd_imm_s(base, i64::from(frame::CALLEE));
        let from = self.b.ins().isub(header, size);
        let way = self.b.ins().isub(to, from);
        let ((copy, place), done) = (self.block_of_word(), self.block());
        self.b.ins().brif(size, copy, &[BlockArg::from(from)], done, &[]);

        self.switch_to_loop(copy, Regions::default());
        let v = self.load_value(Region::Slots, place, 0);
        let target = self.b.ins().iadd(place, way);
        self.store_value(Region::Slots, v, target, 0);
        let next = self.b.ins().iadd_imm_s(place, i64::from(value::nth(1)));
        let more = self.b.ins().icmp(IntCC::NotEqual, next, header);
        self.b.ins().brif(more, copy, &[BlockArg::from(next)], done, &[]);
        self.switch_to(done);
    }

    /// Loads the extra argument with a number counted from 1, or nil if there are fewer; branches
    /// to `other` if the number is less than 1.
    pub(crate) fn extra_argument(&mut self, number: Value, other: Block) -> (Value, Value) {
        let count = self.extra_count();
        let at = self.plus(number, -1);
        let (inside, outside) = (self.block(), self.block());
        let (done, selected) = self.pair_block();
        let is_inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, count);
        self.branch(is_inside, inside, outside);

        self.switch_to(inside);
        let base = self.outermost_base();
        let distance = self.b.ins().isub(at, count);
        let distance = self.plus(distance, -(Frame::RESERVED as i64));
        let offset = self.b.ins().ishl_imm_u(distance, i64::from(value::LOG_SIZE));
        let place = self.b.ins().iadd(base, offset);
        let value = self.load_value(Region::Slots, place, 0);
        self.jump_pair(done, value);

        self.switch_to(outside);
        let is_positive = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, number, 0);
        self.guard(is_positive, other);
        let nothing = (self.int(0), self.tag(Tag::NIL));
        self.jump_pair(done, nothing);
        self.switch_to(done);
        selected
    }
}
