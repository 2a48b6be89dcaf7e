//! Transfers between functions, following the protocol of the interpreter: a call pushes a frame on
//! the VM stack and a return pops it, while the native stack does not change.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};
use crate::runtime::Runtime;

/// Logarithm to base 2 of the size of a callee's cache.
const LOG_CACHE: u32 = 4;
/// The distance in bytes from the register with the callee to the frame's base.
const RESERVED: i64 = (Frame::RESERVED * layout::value::SIZE) as i64;
/// The distance from `R[A]` to the first result of TFORCALL, where the callee is before.
const FIRST_RESULT: usize = 4;

/// The frame that a function returns to.
struct Caller {
    base: Value,
    instance: Value,
    /// The position at which it continues.
    pc: Value,
}

impl<F: Form> Emitter<'_, F> {
    /// Stores the position in the frame word.
    fn store_position(&mut self) {
        let word = self.form.return_word(&mut self.b);
        let base = self.form.base();
        self.store(word, Place { base, offset: layout::frame::WORD });
    }

    /// Emits CALL: part 0 is for a Lua function that is interpreted, part 1 for a native function,
    /// part 2 for another Lua function than before, and part 3 for one that has machine code.
    pub(super) fn call_function(&mut self, part: usize) {
        if let 1 | 3 = part {
            self.store_position();
            let callee = self.first();
            let word = self.form.word(&mut self.b);
            let record = self.record(layout::instance::CALLEES, LOG_CACHE);
            let function = if part == 1 { Runtime::CallNative } else { Runtime::CallCode };
            let status = self.call(function, &[callee, word, record])[0];
            return self.form.called(&mut self.b, status);
        }
        let callee = self.register(Field::A);
        let tag = self.tag(callee);
        let other = self.cold();
        let is_lua = self.has_tag(tag, Tag::FUNCTION);
        self.check(is_lua, other);
        let function = self.bits(callee);
        let instance = self.load64(function, layout::closure::INSTANCE);

        let reserved = RESERVED + i64::from(callee.offset);
        let base = self.b.ins().iadd_imm_s(callee.base, reserved);
        let compiled = self.cold();
        self.check_enterable(instance, base, compiled);

        // The record of callees.
        let record = self.record(layout::instance::CALLEES, LOG_CACHE);
        let known = self.load64(record, layout::callee_cache::CALLEE);
        let different = self.cold();
        let same = self.b.ins().icmp(IntCC::Equal, known, instance);
        if part == 0 {
            self.check(same, different);
        } else {
            // Part 2 is for calls that have several callees.
            self.count_callee(record, known, same, different);
        }
        self.count_entry(instance);
        self.store_position();
        self.start_frame(base, Frame::RESERVED);
        // It is loaded again, since otherwise it would have to be kept in a native frame.
        let function = self.bits(callee);
        let instance = self.load64(function, layout::closure::INSTANCE);
        let end = self.arguments_end(base);
        self.clear_parameters(base, instance, end);
        let at = self.in_state(layout::state::BASE);
        self.store(base, at);
        self.form.enter(&mut self.b, base, instance);

        if part == 0 {
            self.switch(different);
            self.part(2);
        }
        self.switch(compiled);
        if part == 0 {
            self.part(3);
        } else {
            self.leave();
        }
        self.switch(other);
        self.guard_tag(tag, Tag::NATIVE);
        self.part(1);
    }

    /// Emits TFORCALL of an iterator, at a place, that is a Lua function with at most two
    /// parameters and is interpreted.
    pub(super) fn call_iterator(&mut self, iterator: Place) {
        let nth = |n| iterator.plus(layout::value::nth(n));
        let function = self.bits(iterator);
        let instance = self.load64(function, layout::closure::INSTANCE);
        let offset = i64::from(nth(FIRST_RESULT + Frame::RESERVED).offset);
        let base = self.b.ins().iadd_imm_s(iterator.base, offset);
        let compiled = self.slow();
        self.check_enterable(instance, base, compiled);
        let parameters = self.load8(instance, layout::instance::NUM_PARAMS);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, parameters, 2);
        self.guard_not(more);
        self.note_entered(instance);
        self.store_position();
        self.put_tagged(nth(FIRST_RESULT), function, Tag::FUNCTION);
        let arguments = Place { base, offset: 0 };
        self.copy(arguments, nth(1));
        self.copy(arguments.plus(layout::value::nth(1)), nth(2));
        self.start_frame(base, FIRST_RESULT + Frame::RESERVED);
        let at = self.in_state(layout::state::BASE);
        self.store(base, at);
        self.form.enter(&mut self.b, base, instance);
    }

    /// Stores the word and the link of a frame at `base`, which begins `distance` registers after
    /// `R[A]`, for a function that the running one enters.
    fn start_frame(&mut self, base: Value, distance: usize) {
        let word = self.int(FrameWord::new(FrameWord::INTERPRETER, 0).0 as i64);
        self.store(word, Place { base, offset: layout::frame::WORD });
        let a = self.number(Field::A);
        let distance = self.b.ins().iadd_imm_s(a, distance as i64);
        let distance = self.b.ins().ishl_imm_u(distance, i64::from(Link::DISTANCE_SHIFT));
        let empty = self.int(Link::new(0, 0, 0).0 as i64);
        let link = self.b.ins().bor(distance, empty);
        self.store(link, Place { base, offset: layout::frame::LINK });
    }

    /// Records the callee of the instruction, and counts its entry.
    fn note_entered(&mut self, instance: Value) {
        let record = self.record(layout::instance::CALLEES, LOG_CACHE);
        let known = self.load64(record, layout::callee_cache::CALLEE);
        let same = self.b.ins().icmp(IntCC::Equal, known, instance);
        let different = self.cold();
        self.count_callee(record, known, same, different);
        self.count_entry(instance);
    }

    /// Counts a callee other than the one in a record, and continues; if the record has none, the
    /// runtime executes the instruction. `same` says whether the callee is the one in the record.
    fn count_callee(&mut self, record: Value, known: Value, same: Value, different: Block) {
        let entered = self.block();
        self.b.ins().brif(same, entered, &[], different, &[]);
        self.switch(different);
        self.guard(known);
        let others_at = self.at(record, layout::callee_cache::OTHERS);
        let others = self.load(I32, others_at);
        let more = self.b.ins().iadd_imm_s(others, 1);
        let wrapped = self.b.ins().icmp_imm_u(IntCC::Equal, more, 0);
        let others = self.b.ins().select(wrapped, others, more);
        self.store(others, others_at);
        self.b.ins().jump(entered, &[]);
        self.switch(entered);
    }

    /// Emits CONCAT.
    pub(super) fn join(&mut self) {
        self.store_position();
        let status = self.call(Runtime::Concat, &[])[0];
        self.form.reload(&mut self.b, status);
    }

    /// Continues if a function can be entered with a frame at `base`: it takes no extra arguments,
    /// there is room for its frame, and neither the compiler nor a safepoint has to be called. Goes
    /// to `compiled` if the function has machine code.
    fn check_enterable(&mut self, instance: Value, base: Value, compiled: Block) {
        let slot = self.load64(instance, layout::instance::SLOT);
        let entry = self.load64(slot, 0);
        let interpreter = self.form.interpreter(&mut self.b);
        let idle = self.b.ins().icmp(IntCC::Equal, entry, interpreter);
        self.check(idle, compiled);
        let vararg = self.at(instance, layout::instance::IS_VARARG);
        let vararg = self.load(I8, vararg);
        self.guard_not(vararg);
        let size = self.load8(instance, layout::instance::MAX_STACK);
        let size = self.b.ins().ishl_imm_u(size, i64::from(layout::value::LOG_SIZE));
        let state = self.state();
        let limit = self.load64(state, layout::state::LIMIT);
        let room = self.b.ins().isub(limit, base);
        let fits = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, room, size);
        self.guard(fits);
        self.guard_unpolled();
        let entries = self.at(instance, layout::instance::ENTRIES);
        let (mask, phase) = (layout::state::ENTRY_MASK, layout::state::ENTRY_PHASE);
        self.counted(entries, mask, phase);
    }

    /// Counts an entry. The count is loaded again, so that fewer values are live before.
    fn count_entry(&mut self, instance: Value) {
        let entries = self.at(instance, layout::instance::ENTRIES);
        let count = self.load(I32, entries);
        let count = self.b.ins().iadd_imm_s(count, 1);
        self.store(count, entries);
    }

    /// Returns the end of the arguments that begin at an address, according to operand B.
    fn arguments_end(&mut self, first: Value) -> Value {
        let b = self.number(Field::B);
        let (open, counted) = (self.cold(), self.block());
        let end = self.b.append_block_param(counted, I64);
        let fixed = self.b.ins().iadd_imm_s(b, -1);
        let fixed = self.element(first, fixed, layout::value::LOG_SIZE);
        self.b.ins().brif(b, counted, &[BlockArg::from(fixed)], open, &[]);
        self.switch(open);
        let state = self.state();
        let top = self.load64(state, layout::state::TOP);
        self.b.ins().jump(counted, &[BlockArg::from(top)]);
        self.switch(counted);
        end
    }

    /// Sets the parameters without arguments to nil; `end` is the end of the arguments.
    fn clear_parameters(&mut self, base: Value, instance: Value, end: Value) {
        let (fill, done) = (self.cold(), self.block());
        let at = self.b.append_block_param(fill, I64);
        let wanted = self.load8(instance, layout::instance::NUM_PARAMS);
        let wanted = self.element(base, wanted, layout::value::LOG_SIZE);
        let enough = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, end, wanted);
        self.b.ins().brif(enough, done, &[], fill, &[BlockArg::from(end)]);
        self.switch(fill);
        self.put_plain(Place { base: at, offset: 0 }, Tag::NIL);
        let after = self.b.ins().iadd_imm_s(at, layout::value::SIZE as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, after, wanted);
        self.b.ins().brif(more, fill, &[BlockArg::from(after)], done, &[]);
        self.switch(done);
    }

    /// Emits TAILCALL: part 0 is for a Lua function that is interpreted, called by one without
    /// extra arguments, if there is nothing to close. Part 1 is for a native function, whose
    /// results are returned by the RETURN that follows.
    pub(super) fn tail_call(&mut self, part: usize) {
        if part == 1 {
            self.store_position();
            let callee = self.first();
            let word = self.form.word(&mut self.b);
            let record = self.record(layout::instance::CALLEES, LOG_CACHE);
            let status = self.call(Runtime::TailCallNative, &[callee, word, record])[0];
            return self.form.called(&mut self.b, status);
        }
        let closes = self.number(Field::C);
        self.guard_not(closes);
        let callee = self.register(Field::A);
        let tag = self.tag(callee);
        let other = self.cold();
        let is_lua = self.has_tag(tag, Tag::FUNCTION);
        self.check(is_lua, other);
        let running = self.form.instance();
        let vararg = self.at(running, layout::instance::IS_VARARG);
        let vararg = self.load(I8, vararg);
        self.guard_not(vararg);
        let function = self.bits(callee);
        let instance = self.load64(function, layout::closure::INSTANCE);
        let base = self.form.base();
        let compiled = self.slow();
        self.check_enterable(instance, base, compiled);
        self.note_entered(instance);

        // The new frame replaces the old one in its place.
        self.store(function, Place { base, offset: layout::frame::CALLEE });
        let word = self.int(FrameWord::new(FrameWord::INTERPRETER, 0).0 as i64);
        self.store(word, Place { base, offset: layout::frame::WORD });
        let link_at = Place { base, offset: layout::frame::LINK };
        let link = self.load(I64, link_at);
        let dropped = Link::new(!flags::TAIL_KEEPS, 0, 0).0 ^ Link::new(0, 0, 0).0;
        let link = self.b.ins().band_imm_s(link, !dropped as i64);
        let tail = Link::new(flags::TAIL, 0, 0).0 ^ Link::new(0, 0, 0).0;
        let link = self.b.ins().bor_imm_u(link, tail as i64);
        self.store(link, link_at);

        let first = self.b.ins().iadd_imm_s(callee.base, i64::from(callee.offset) + RESERVED);
        let end = self.arguments_end(first);
        let (moving, move_one, moved) = (self.block(), self.block(), self.block());
        let source = self.b.append_block_param(moving, I64);
        let target = self.b.append_block_param(moving, I64);
        self.b.ins().jump(moving, &[BlockArg::from(first), BlockArg::from(base)]);
        self.switch(moving);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, source, end);
        self.b.ins().brif(more, move_one, &[], moved, &[]);
        self.switch(move_one);
        self.copy(Place { base: target, offset: 0 }, Place { base: source, offset: 0 });
        let size = layout::value::SIZE as i64;
        let (s, t) = (self.b.ins().iadd_imm_s(source, size), self.b.ins().iadd_imm_s(target, size));
        self.b.ins().jump(moving, &[BlockArg::from(s), BlockArg::from(t)]);
        self.switch(moved);
        self.clear_parameters(base, instance, target);
        self.form.enter(&mut self.b, base, instance);
        self.switch(other);
        self.guard_tag(tag, Tag::NATIVE);
        self.part(1);
    }

    /// Returns the caller's frame and the instruction that made the call, if this is a return to an
    /// interpreted function.
    fn caller(&mut self) -> (Caller, Value) {
        let base = self.form.base();
        let link = self.load(I64, Place { base, offset: layout::frame::LINK });
        let slow = Link::new(flags::RETURN_SLOW, 0, 0).0 ^ Link::new(0, 0, 0).0;
        let bits = self.b.ins().band_imm_u(link, slow as i64);
        self.guard_not(bits);
        let distance = self.b.ins().ushr_imm_u(link, i64::from(Link::DISTANCE_SHIFT));
        let bytes = self.b.ins().ishl_imm_u(distance, i64::from(layout::value::LOG_SIZE));
        let caller = self.b.ins().isub(base, bytes);
        let word = self.load(I64, Place { base: caller, offset: layout::frame::WORD });
        // The word of an interpreted frame is its pc.
        let code = self.b.ins().ushr_imm_u(word, i64::from(FrameWord::PC_BITS));
        self.guard_not(code);
        let function = self.load(I64, Place { base: caller, offset: layout::frame::CALLEE });
        let instance = self.load64(function, layout::closure::INSTANCE);
        let code = self.load64(instance, layout::instance::CODE);
        let pc = self.element(code, word, 2);
        let call = self.load(I32, Place { base: pc, offset: -4 });
        (Caller { base: caller, instance, pc }, call)
    }

    /// Returns whether an instruction is a CALL for this number of results.
    fn is_call_for(&mut self, call: Value, results: u8) -> Value {
        // Operations on 32 bits take constants as they are.
        let wanted = u32::from(results + 1) << 24 | Op::Call as u32;
        let parts = self.b.ins().band_imm_u(call, 0xFF00_00FF);
        self.b.ins().icmp_imm_u(IntCC::Equal, parts, i64::from(wanted))
    }

    /// Continues if an instruction is a CALL, and in `other` if not.
    fn check_call(&mut self, call: Value, other: Block) {
        let op = self.b.ins().band_imm_u(call, 0xFF);
        let is_call = self.b.ins().icmp_imm_u(IntCC::Equal, op, Op::Call as i64);
        self.check(is_call, other);
    }

    /// Returns the values from `from` up to `end` to an instruction that called a metamethod or an
    /// iterator. Some of these instructions want one value in their register A, stores want none,
    /// and TFORCALL wants as many as operand C says. Others are left to the runtime.
    fn return_to_other(&mut self, caller: &Caller, call: Value, from: Value, end: Value) {
        let op = self.b.ins().band_imm_u(call, 0xFF);
        let (iterator, value, nil, some) = (self.cold(), self.block(), self.cold(), self.block());
        let (storing, done) = (self.cold(), self.block());
        let first = self.b.ins().iadd_imm_s(op, -(Op::GetTabUp as i64));
        let range = Op::Len as i64 - Op::GetTabUp as i64;
        let plain = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, first, range);
        self.check(plain, iterator);
        let first = self.b.ins().iadd_imm_s(op, -(Op::SetTabUp as i64));
        let range = Op::SetFieldK as i64 - Op::SetTabUp as i64;
        let stores = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, first, range);
        self.b.ins().brif(stores, storing, &[], value, &[]);

        self.switch(value);
        let to = self.destination(caller, call);
        let any = self.b.ins().icmp(IntCC::UnsignedLessThan, from, end);
        self.b.ins().brif(any, some, &[], nil, &[]);
        self.switch(some);
        self.copy(to, Place { base: from, offset: 0 });
        self.b.ins().jump(done, &[]);
        self.switch(nil);
        self.put_plain(to, Tag::NIL);
        self.b.ins().jump(done, &[]);
        self.switch(storing);
        self.b.ins().jump(done, &[]);

        self.switch(iterator);
        let generic = self.b.ins().icmp_imm_u(IntCC::Equal, op, Op::TForCall as i64);
        self.guard(generic);
        let to = self.destination(caller, call).base;
        let to = self.b.ins().iadd_imm_s(to, i64::from(layout::value::nth(FIRST_RESULT)));
        let wanted = self.b.ins().ushr_imm_u(call, i64::from(Instr::C_SHIFT));
        let wanted = self.b.ins().uextend(I64, wanted);
        let wanted_end = self.element(to, wanted, layout::value::LOG_SIZE);
        self.move_values((from, end), (to, wanted_end));
        self.b.ins().jump(done, &[]);
        self.switch(done);
        self.return_to(caller);
    }

    /// Returns the place of the first result, given the CALL instruction.
    fn destination(&mut self, caller: &Caller, call: Value) -> Place {
        let a = self.b.ins().uextend(I64, call);
        let a = self.b.ins().ushr_imm_u(a, i64::from(Instr::A_SHIFT));
        let a = self.b.ins().band_imm_u(a, 0xFF);
        let base = self.element(caller.base, a, layout::value::LOG_SIZE);
        Place { base, offset: 0 }
    }

    fn return_to(&mut self, caller: &Caller) {
        let at = self.in_state(layout::state::BASE);
        self.store(caller.base, at);
        self.form.resume(&mut self.b, caller.base, caller.instance, caller.pc);
    }

    /// Emits RETURN of any number of values. Part 1 is for functions with upvalues that may have to
    /// be closed, and part 2 for returns to an instruction other than CALL when nothing remains to
    /// be closed.
    pub(super) fn return_values(&mut self, part: usize) {
        if part == 2 {
            let (caller, call) = self.caller();
            let from = self.first();
            let end = self.arguments_end(from);
            return self.return_to_other(&caller, call, from, end);
        }
        if part == 0 {
            let closes = self.number(Field::C);
            let closing = self.cold();
            self.check_not(closes, closing);
            self.return_open();
            self.switch(closing);
            return self.part(1);
        }
        let base = self.form.base();
        let closed = self.call(Runtime::Close, &[base])[0];
        self.guard(closed);
        self.return_open();
    }

    /// Returns the operands, from `R[A]` on, when nothing remains to be closed.
    fn return_open(&mut self) {
        let (caller, call) = self.caller();
        let other = self.cold();
        self.check_call(call, other);
        let from = self.first();
        let end = self.arguments_end(from);
        self.deliver(&caller, call, from, end);
        self.return_to(&caller);
        self.switch(other);
        self.part(2);
    }

    /// Moves the values from `from` up to `end` to where a CALL wants them.
    fn deliver(&mut self, caller: &Caller, call: Value, from: Value, end: Value) {
        let to = self.destination(caller, call).base;
        let wanted = self.b.ins().ushr_imm_u(call, i64::from(Instr::C_SHIFT));
        let wanted = self.b.ins().uextend(I64, wanted);
        let (all, some, go) = (self.cold(), self.block(), self.block());
        let wanted_end = self.b.append_block_param(go, I64);
        let fixed = self.b.ins().iadd_imm_s(wanted, -1);
        self.b.ins().brif(wanted, some, &[], all, &[]);
        self.switch(all);
        let bytes = self.b.ins().isub(end, from);
        let top = self.b.ins().iadd(to, bytes);
        let at = self.in_state(layout::state::TOP);
        self.store(top, at);
        self.b.ins().jump(go, &[BlockArg::from(top)]);
        self.switch(some);
        let last = self.element(to, fixed, layout::value::LOG_SIZE);
        self.b.ins().jump(go, &[BlockArg::from(last)]);

        self.switch(go);
        self.move_values((from, end), (to, wanted_end));
    }

    /// Moves the values in one range of slots to the beginning of another, and fills the rest of
    /// that range with nils.
    fn move_values(&mut self, (from, end): (Value, Value), (to, wanted_end): (Value, Value)) {
        let size = layout::value::SIZE as i64;
        let (copying, copy, filling, fill, done) =
            (self.block(), self.block(), self.block(), self.cold(), self.block());
        let source = self.b.append_block_param(copying, I64);
        let target = self.b.append_block_param(copying, I64);
        let nil_at = self.b.append_block_param(filling, I64);
        self.b.ins().jump(copying, &[BlockArg::from(from), BlockArg::from(to)]);
        self.switch(copying);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, source, end);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, target, wanted_end);
        let both = self.b.ins().band(more, room);
        self.b.ins().brif(both, copy, &[], filling, &[BlockArg::from(target)]);
        self.switch(copy);
        self.copy(Place { base: target, offset: 0 }, Place { base: source, offset: 0 });
        let source = self.b.ins().iadd_imm_s(source, size);
        let target = self.b.ins().iadd_imm_s(target, size);
        self.b.ins().jump(copying, &[BlockArg::from(source), BlockArg::from(target)]);
        self.switch(filling);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, nil_at, wanted_end);
        self.b.ins().brif(room, fill, &[], done, &[]);
        self.switch(fill);
        self.put_plain(Place { base: nil_at, offset: 0 }, Tag::NIL);
        let after = self.b.ins().iadd_imm_s(nil_at, size);
        self.b.ins().jump(filling, &[BlockArg::from(after)]);
        self.switch(done);
    }

    /// Emits RETURN1. Part 1 is for returns to a CALL that wants another number of values, and part
    /// 2 for returns to another instruction.
    pub(super) fn return_one(&mut self, part: usize) {
        let (caller, call) = self.caller();
        if part == 0 {
            let other = self.cold();
            let one = self.is_call_for(call, 1);
            self.check(one, other);
            let from = self.register(Field::A);
            let to = self.destination(&caller, call);
            self.copy(to, from);
            self.return_to(&caller);
            self.switch(other);
            return self.part(1);
        }
        let from = self.first();
        let end = self.b.ins().iadd_imm_s(from, layout::value::SIZE as i64);
        self.return_range(part, &caller, call, (from, end));
    }

    /// Emits RETURN0, with parts as for [`Emitter::return_one`].
    pub(super) fn return_nothing(&mut self, part: usize) {
        let (caller, call) = self.caller();
        if part == 0 {
            let other = self.cold();
            let none = self.is_call_for(call, 0);
            self.check(none, other);
            self.return_to(&caller);
            self.switch(other);
            return self.part(1);
        }
        let end = self.form.base();
        self.return_range(part, &caller, call, (end, end));
    }

    /// Returns a range of values: in part 1 to a CALL, in part 2 to another instruction.
    fn return_range(
        &mut self,
        part: usize,
        caller: &Caller,
        call: Value,
        (from, end): (Value, Value),
    ) {
        if part == 2 {
            return self.return_to_other(caller, call, from, end);
        }
        let other = self.cold();
        self.check_call(call, other);
        self.deliver(caller, call, from, end);
        self.return_to(caller);
        self.switch(other);
        self.part(2);
    }
}
