//! The beginning of functions.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::frame::{Frame, FrameWord, Link};
use perilune_runtime::layout::{frame, state, value};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::{Region, Regions};
use crate::entity::Reg;

impl Emitter<'_> {
    /// Emits the prologue of a function: checks that the stack has room, and fills missing
    /// parameters.
    pub(crate) fn prologue(&mut self, nargs: Value) {
        let proto = self.body.proto;
        let params: usize = proto.num_params.into();
        let base = self.base();
        let st = self.state();
        let slots = usize::from(proto.max_stack) + self.inlined_slots;
        let size = i64::from(frame::slot(slots));
        let end = if proto.is_vararg {
            let n = self.b.ins().iadd_imm_s(nargs, (params + Frame::RESERVED) as i64);
            let n = self.b.ins().ishl_imm_u(n, i64::from(value::LOG_SIZE));
            let end = self.b.ins().iadd(base, n);
            self.b.ins().iadd_imm_s(end, size)
        } else {
            self.b.ins().iadd_imm_s(base, size)
        };
        let limit = self.load64(Region::State, st, state::LIMIT);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, limit);
        let (stub, roomy, on) = (self.cold_block(), self.block(), self.block());
        self.branch(full, stub, roomy);
        self.switch_to(roomy);
        let native = self.load64(Region::State, st, state::NATIVE_LIMIT);
        let sp = self.b.ins().get_stack_pointer(I64);
        let deep = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, native);
        if self.body.counts {
            let (shallow, paid) = (self.block(), self.block());
            self.branch(deep, stub, shallow);
            self.switch_to(shallow);
            let (left, enough) = self.fuel_after(proto.code.len());
            self.branch(enough, paid, stub);
            self.switch_to(paid);
            self.set_fuel(left);
            self.jump(on);
        } else {
            self.branch(deep, stub, on);
        }
        // the interpreter makes room, or stops the script
        self.switch_to(stub);
        let entry = self.int(self.body.calls.interpret as usize as i64);
        let args = [self.passed_closure, base, nargs];
        self.b.ins().return_call_indirect(self.entry_sig, entry, &args);
        self.switch_to(on);
        if proto.is_vararg {
            self.lay_out_vararg(base, params, nargs);
        } else if params != 0 {
            self.fill_parameters(base, params, nargs);
        }
    }

    /// Lays out the frame of a vararg function, as `lay_out` of the interpreter does: moves the
    /// function and its parameters above the arguments. The runtime does this if arguments are
    /// missing, and for functions with many parameters.
    fn lay_out_vararg(&mut self, base: Value, params: usize, nargs: Value) {
        /// The most parameters that are moved inline.
        const MAX_MOVED: usize = 4;
        let (others, on) = (self.cold_block(), self.block());
        if params > MAX_MOVED {
            self.jump(others);
        } else {
            let missing = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, nargs, params as i64);
            let moves = self.block();
            self.branch(missing, others, moves);
            self.switch_to(moves);
            let moved = self.move_above_arguments(base, params, nargs);
            self.set_base(moved);
            self.jump(on);
        }
        self.switch_to(others);
        let st = self.state();
        let moved = self.runtime_word(self.body.calls.vararg_prep as usize, &[st, base, nargs]);
        self.set_base(moved);
        self.jump(on);
        self.switch_to(on);
    }

    /// Moves the function and its parameters above the arguments, none of which is missing. Returns
    /// the new base.
    fn move_above_arguments(&mut self, base: Value, params: usize, nargs: Value) -> Value {
        let distance = self.b.ins().iadd_imm_s(nargs, Frame::RESERVED as i64);
        let offset = self.b.ins().ishl_imm_u(distance, i64::from(value::LOG_SIZE));
        let moved = self.b.ins().iadd(base, offset);
        let nil = self.int(0);
        self.store(Region::Slots, self.passed_closure, moved, frame::CALLEE);
        let function = self.int(Tag::FUNCTION.0.into());
        self.store8(Region::Slots, function, moved, frame::CALLEE + value::TAG as i32);
        for r in (0..params).map(Reg::new) {
            let bits = self.load64(Region::Slots, base, frame::slot(r.index()));
            let tag = self.load8(Region::Slots, base, frame::tag(r.index()));
            self.store_register_at(moved, r, bits, tag);
            self.store_register_at(base, r, nil, nil);
        }
        // a frame at the bottom of the stack has no caller, and the distance 0
        let link = self.load64(Region::Slots, base, frame::LINK);
        let before = self.b.ins().ushr_imm_u(link, i64::from(Link::DISTANCE_SHIFT));
        let more = self.b.ins().ishl_imm_u(distance, i64::from(Link::DISTANCE_SHIFT));
        let more = self.b.ins().select(before, more, nil);
        let extra = self.b.ins().iadd_imm_s(nargs, -(params as i64));
        let extra = self.b.ins().ishl_imm_u(extra, i64::from(Link::EXTRA_SHIFT));
        let others = self.int(!((Link::EXTRA_MASK << Link::EXTRA_SHIFT) as i64));
        let link = self.b.ins().band(link, others);
        let link = self.b.ins().bor(link, extra);
        let link = self.b.ins().iadd(link, more);
        self.store(Region::Slots, link, moved, frame::LINK);
        let word = self.int(FrameWord::new(FrameWord::INTERPRETER, 1).0 as i64);
        self.store(Region::Slots, word, moved, frame::WORD);
        // the abandoned header must not look like the header of a live frame
        self.store(Region::Slots, nil, base, frame::WORD);
        self.store8(Region::Slots, nil, base, frame::LINK);
        moved
    }

    /// Stores nil to the parameters that no argument was passed for.
    fn fill_parameters(&mut self, base: Value, params: usize, nargs: Value) {
        let (few, on) = (self.cold_block(), self.block());
        let missing = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, nargs, params as i64);
        self.branch(missing, few, on);
        self.switch_to(few);
        let nil = self.int(0);
        if params == 1 {
            self.store_register_at(base, Reg::new(0), nil, nil);
            self.jump(on);
            self.switch_to(on);
            return;
        }
        // from the last parameter down to the first one without an argument
        let fill = self.cold_block();
        let p = self.b.append_block_param(fill, I64);
        let count = self.int(params as i64);
        self.jump_with(fill, count);
        self.switch_to_loop(fill, Regions::default());
        let p = self.b.ins().iadd_imm_s(p, -1);
        let offset = self.b.ins().ishl_imm_u(p, i64::from(value::LOG_SIZE));
        let place = self.b.ins().iadd(base, offset);
        self.store_value(Region::Slots, (nil, nil), place, 0);
        let more = self.b.ins().icmp(IntCC::UnsignedGreaterThan, p, nargs);
        self.b.ins().brif(more, fill, &[BlockArg::from(p)], on, &[]);
        self.switch_to(on);
    }
}
