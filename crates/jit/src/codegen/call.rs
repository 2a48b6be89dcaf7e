//! Entries, calls and returns: the calling protocol of compiled functions, and calls of the
//! runtime.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, Inst, InstBuilder, Signature, Type, Value,
};
use cranelift_codegen::isa::CallConv;
use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::layout::{closure, frame, header, instance, state, value};
use perilune_runtime::state::MAX_PASSED;
use perilune_runtime::tier::{MISS, status};

use super::Emitter;
use super::builtin::changes_tables;
use super::memory::Region;
use crate::entity::{Pc, Reg};
use crate::pipeline::input::Direct;

/// The bits of the frame's link that a tail call keeps: the distance, and the flags that concern
/// the caller.
const TAIL_KEEPS: u64 = Link::new(flags::TAIL_KEEPS, 0, 0xF_FFFF).0;
/// The bits of the link that a tail call sets.
const TAIL_GETS: u64 = Link::new(flags::TAIL, 0, 0).0;

/// The position of the number of results in a status word.
const RESULTS_SHIFT: i64 = 32;

/// The end of a call of a Lua function.
pub(crate) struct Returned {
    /// The block for a call that has returned, without a pending request in the poll word.
    pub(crate) good: Block,
    /// The block for a call that has not returned, or with a pending request in the poll word.
    cold: Block,
    /// The status word, and the status in its low half.
    pub(super) status: Value,
    low: Value,
    /// The first result.
    pub(crate) bits: Value,
    pub(crate) tag: Value,
}

/// Returns the types of values.
fn kinds(func: &Function, args: &[Value]) -> Vec<Type> {
    args.iter().map(|v| func.dfg.value_type(*v)).collect()
}

/// Returns the signature of a function of the runtime.
fn runtime_signature(params: &[Type], returns: &[Type]) -> Signature {
    let mut sig = Signature::new(CallConv::SystemV);
    sig.params.extend(params.iter().map(|&t| AbiParam::new(t)));
    sig.returns.extend(returns.iter().map(|&t| AbiParam::new(t)));
    sig
}

/// Calls of the runtime.
impl Emitter<'_> {
    /// Calls the function of the runtime at `address`, which the module imports by name.
    pub(crate) fn runtime(&mut self, address: usize, args: &[Value], results: &[Type]) -> Inst {
        let signature = |func: &Function| runtime_signature(&kinds(func, args), results);
        let func = self.callees.runtime(address, signature, self.b.func);
        self.b.ins().call(func, args)
    }

    /// As [`Emitter::runtime`], for a function that returns a word.
    pub(crate) fn runtime_word(&mut self, address: usize, args: &[Value]) -> Value {
        let inst = self.runtime(address, args, &[I64]);
        self.b.inst_results(inst)[0]
    }

    /// As [`Emitter::runtime`], for a function that returns a value: payload and tag.
    pub(crate) fn runtime_pair(&mut self, address: usize, args: &[Value]) -> (Value, Value) {
        let inst = self.runtime(address, args, &[I64, I64]);
        let results = self.b.inst_results(inst);
        (results[0], results[1])
    }

    /// Calls a function of the runtime that computes a float from floats.
    pub(super) fn call_float_function(&mut self, address: usize, args: &[Value]) -> Value {
        let call = self.runtime(address, args, &[F64]);
        self.changes_nothing(call);
        self.b.inst_results(call)[0]
    }

    /// Calls a function of the runtime whose address is a value.
    fn runtime_at(&mut self, callee: Value, args: &[Value], results: &[Type]) -> Inst {
        let kinds = kinds(self.b.func, args);
        let found = self.sigs.iter().find(|(a, r, _)| *a == kinds && r == results);
        let sig = match found {
            Some(&(_, _, sig)) => sig,
            None => {
                let sig = self.b.import_signature(runtime_signature(&kinds, results));
                self.sigs.push((kinds, results.to_vec(), sig));
                sig
            }
        };
        self.b.ins().call_indirect(sig, callee, args)
    }

    /// Calls a function of the runtime that may run Lua code, while the frame is at `pc`; exits
    /// from the code unless the status is good. `args` are the arguments after state, base and
    /// frame word.
    pub(crate) fn runtime_step(&mut self, address: usize, pc: Pc, args: &[Value]) {
        let word = self.frame_word(pc);
        self.runtime_step_at(address, word, args);
    }

    /// Like [`Emitter::runtime_step`], with this frame word.
    pub(super) fn runtime_step_at(&mut self, address: usize, word: Value, args: &[Value]) {
        let (status, base) = self.call_step(address, word, args);
        self.check(status);
        self.set_base(base);
    }

    /// Calls a function that may run Lua code; returns status and base.
    fn call_step(&mut self, address: usize, word: Value, args: &[Value]) -> (Value, Value) {
        let mut all = vec![self.state(), self.base(), word];
        all.extend(args);
        self.runtime_pair(address, &all)
    }

    /// Like [`Emitter::runtime_step`], for a function that preserves all machine registers. Used
    /// for rare events, so that the surrounding code can hold values in registers.
    pub(crate) fn preserving_step(&mut self, address: usize, pc: Pc) {
        self.save_frame(pc);
        self.preserving(address);
        let st = self.state();
        let status = self.load64(Region::State, st, state::RETURNED_BITS);
        self.check(status);
        let st = self.state();
        let base = self.load64(Region::State, st, state::BASE);
        self.set_base(base);
    }

    /// As [`Emitter::preserving_step`], for a function that changes no memory that code loads from
    /// except home slots, the state, and the flags of objects, which the collector changes when it
    /// marks them.
    pub(super) fn quiet_step(&mut self, address: usize, pc: Pc) {
        self.save_frame(pc);
        let call = self.preserving(address);
        self.changes_nothing(call);
        self.available.change(self.b.func, Region::Flags);
        let st = self.state();
        let status = self.load64(Region::State, st, state::RETURNED_BITS);
        self.check(status);
    }

    /// Calls the function of the runtime at `address`, which takes the state and these words, so
    /// that all machine registers are preserved, on a rare path. Returns the two words of its
    /// result.
    pub(crate) fn preserving_leaf(&mut self, address: usize, args: &[Value]) -> (Value, Value) {
        self.pass_to_leaf(address, args);
        self.preserving(self.body.calls.preserving_leaf as usize);
        self.returned_by_leaf()
    }

    /// Like [`Emitter::preserving_leaf`], for a function that changes no memory that code loads
    /// from, except for the changes that the caller notes.
    pub(super) fn quiet_leaf(&mut self, address: usize, args: &[Value]) -> (Value, Value) {
        self.pass_to_leaf(address, args);
        let call = self.preserving(self.body.calls.preserving_leaf as usize);
        self.changes_nothing(call);
        self.returned_by_leaf()
    }

    fn pass_to_leaf(&mut self, address: usize, args: &[Value]) {
        debug_assert!(args.len() <= MAX_PASSED);
        let st = self.state();
        let function = (MAX_PASSED, self.int(address as i64));
        for (n, word) in args.iter().copied().enumerate().chain([function]) {
            self.store(Region::State, word, st, state::PASSED + n * size_of::<u64>());
        }
    }

    fn returned_by_leaf(&mut self) -> (Value, Value) {
        let st = self.state();
        let first = self.load64(Region::State, st, state::RETURNED_BITS);
        (first, self.load64(Region::State, st, state::RETURNED_TAG))
    }

    /// Calls a function of the runtime that preserves all machine registers.
    pub(super) fn preserving(&mut self, address: usize) -> Inst {
        let signature = |_: &Function| {
            let mut signature = runtime_signature(&[], &[]);
            signature.call_conv = CallConv::PreserveAll;
            signature
        };
        let func = self.callees.runtime(address, signature, self.b.func);
        self.b.ins().call(func, &[])
    }

    /// Runs the instruction at `pc` in the runtime.
    pub(crate) fn generic(&mut self, pc: Pc) {
        self.preserving_step(self.body.calls.preserving_one as usize, pc + 1);
    }

    /// Continues in a new block. If `answer` is 0, runs the instruction at `pc` in the runtime
    /// first.
    pub(crate) fn unless_generic(&mut self, pc: Pc, answer: Value) {
        let (slow, on) = (self.cold_block(), self.block());
        self.branch(answer, on, slow);
        self.end_slowly(slow, pc, on);
    }

    /// Ends an instruction without a result: in `slow`, runs the instruction in the runtime.
    /// Control continues at `done`.
    pub(crate) fn end_slowly(&mut self, slow: Block, pc: Pc, done: Block) {
        self.switch_to(slow);
        self.generic(pc);
        self.jump(done);
        self.switch_to(done);
    }

    /// Branches to `slow` if a function of the runtime has returned this tag for a miss.
    pub(crate) fn guard_answer(&mut self, tag: Value, slow: Block) {
        let known = self.b.ins().icmp_imm_u(IntCC::NotEqual, tag, MISS as i64);
        self.guard(known, slow);
    }

    /// Calls the native function `callee` if it is a library function that machine code can call
    /// directly and that succeeds without an error; returns its result. Otherwise branches to
    /// `unknown`.
    pub(crate) fn call_builtin(
        &mut self,
        callee: Value,
        a: Reg,
        nargs: Value,
        unknown: Block,
    ) -> (Value, Value) {
        let number = self.load32(Region::Objects, callee, header::WORD);
        let known = self.block();
        self.branch(number, known, unknown);
        self.switch_to(known);
        let table = self.int(self.body.calls.builtins.as_ptr() as i64);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm_u(number, 3);
        let place = self.b.ins().iadd(table, offset);
        let function = self.load64(Region::Instances, place, 0);
        let args = self.leaf_arguments(a, nargs);
        let inst = self.runtime_at(function, &args, &[I64, I64]);
        let (bits, tag) = (self.b.inst_results(inst)[0], self.b.inst_results(inst)[1]);
        self.guard_answer(tag, unknown);
        (bits, tag)
    }

    /// Like [`Emitter::call_builtin`], for a callee that is library function `number`. If the
    /// function changes no tables, values loaded from tables stay available after the call.
    pub(crate) fn call_leaf(
        &mut self,
        number: u32,
        a: Reg,
        nargs: Value,
        unknown: Block,
    ) -> (Value, Value) {
        let function = self.body.calls.builtins[number as usize];
        let args = self.leaf_arguments(a, nargs);
        let call = self.runtime(function as usize, &args, &[I64, I64]);
        if !changes_tables(number) {
            self.changes_nothing(call);
            // the collector may mark a string that the function has found
            self.available.change(self.b.func, Region::Flags);
        }
        let &[bits, tag] = self.b.inst_results(call) else { unreachable!("it has two results") };
        self.guard_answer(tag, unknown);
        (bits, tag)
    }

    /// Like [`Emitter::call_leaf`], on a rare path, for a function that changes no table.
    pub(crate) fn call_leaf_rarely(
        &mut self,
        number: u32,
        a: Reg,
        nargs: Value,
        unknown: Block,
    ) -> (Value, Value) {
        let function = self.body.calls.builtins[number as usize];
        let args = self.callee_base(a);
        let result = self.quiet_leaf(function as usize, &[args, nargs]);
        self.guard_answer(result.1, unknown);
        result
    }

    fn leaf_arguments(&mut self, a: Reg, nargs: Value) -> [Value; 3] {
        [self.state(), self.callee_base(a), nargs]
    }
}

/// Calls of Lua functions.
impl Emitter<'_> {
    /// Loads the address of the entry slot of a Lua function.
    pub(crate) fn slot_of(&mut self, callee: Value) -> Value {
        let inst = self.load64(Region::Objects, callee, closure::INSTANCE);
        self.load64(Region::Instances, inst, instance::SLOT)
    }

    fn entry_of(&mut self, callee: Value) -> Value {
        let slot = self.slot_of(callee);
        self.load64(Region::Instances, slot, 0)
    }

    /// Returns the number of arguments of a call with operand B whose callee is in register `a`.
    pub(crate) fn argument_count(&mut self, a: Reg, b: usize) -> Value {
        if b != 0 { self.int(b as i64 - 1) } else { self.count_from(a + Frame::RESERVED) }
    }

    /// Stores the headers of this frame and of the frame of a callee in register `a`, for a call
    /// that continues at `pc`; returns the base of the callee's frame.
    pub(crate) fn begin_call(&mut self, a: Reg, pc: Pc) -> Value {
        let base = self.base();
        let word = self.frame_word(pc);
        self.store(Region::Slots, word, base, frame::WORD);
        let link = self.int(Link::new(0, 0, (a + Frame::RESERVED).index()).0 as i64);
        let at = frame::slot((a + Frame::RESERVED).index()) + frame::LINK;
        self.store(Region::Slots, link, base, at);
        self.callee_base(a)
    }

    /// Calls a Lua function through its slot.
    pub(crate) fn call_slot(&mut self, args: &[Value; 3]) -> [Value; 4] {
        let entry = self.entry_of(args[0]);
        let inst = self.b.ins().call_indirect(self.entry_sig, entry, args);
        std::array::from_fn(|n| self.b.inst_results(inst)[n])
    }

    /// Calls a Lua function: directly if it is the likely callee in this module, otherwise through
    /// its slot.
    pub(crate) fn call_likely(&mut self, likely: Direct, args: &[Value; 3]) -> [Value; 4] {
        let callee = args[0];
        if likely.is_self && self.closure() == callee {
            return self.call_member(likely.member, args);
        }
        let (direct, other) = (self.block(), self.cold_block());
        let done = self.block();
        for _ in 0..4 {
            self.b.append_block_param(done, I64);
        }
        let same = if likely.is_self {
            // a closure that calls itself
            let own = self.closure();
            self.b.ins().icmp(IntCC::Equal, callee, own)
        } else {
            let slot = self.slot_of(callee);
            let known = self.int(likely.slot as i64);
            self.b.ins().icmp(IntCC::Equal, slot, known)
        };
        self.branch(same, direct, other);
        self.switch_to(direct);
        let results = self.call_member(likely.member, args);
        self.return_to(done, &results);
        self.switch_to(other);
        let results = self.call_slot(args);
        self.return_to(done, &results);
        self.switch_to(done);
        std::array::from_fn(|n| self.b.block_params(done)[n])
    }

    /// Calls a function of the same module.
    fn call_member(&mut self, member: u32, args: &[Value; 3]) -> [Value; 4] {
        let member = self.callees.member(member, self.b.func);
        let inst = self.b.ins().call(member, args);
        std::array::from_fn(|n| self.b.inst_results(inst)[n])
    }

    fn return_to(&mut self, block: Block, results: &[Value]) {
        let results: Vec<BlockArg> = results.iter().map(|&v| BlockArg::from(v)).collect();
        self.b.ins().jump(block, &results);
    }

    /// Ends the block after a call of a Lua function in register `a`: takes over the returned base,
    /// and tests status and poll word together.
    pub(crate) fn end_call(&mut self, a: Reg, [status, bits, tag, base]: [Value; 4]) -> Returned {
        let distance = frame::slot((a + Frame::RESERVED).index());
        let base = self.b.ins().iadd_imm_s(base, -i64::from(distance));
        self.set_base(base);
        let low = self.b.ins().ireduce(I32, status);
        let word = self.poll_word();
        let any = self.b.ins().bor(low, word);
        let (cold, good) = (self.cold_block(), self.block());
        self.branch(any, cold, good);
        Returned { good, cold, status, low, bits, tag }
    }

    /// Leaves the frame if the callee has failed or yields; returns the block for a callee that has
    /// returned with a pending request in the poll word.
    pub(crate) fn pass_on_failure(&mut self, returned: &Returned) -> Block {
        self.switch_to(returned.cold);
        self.pass_on(returned)
    }

    /// Ends the block as [`Emitter::pass_on_failure`] does.
    fn pass_on(&mut self, returned: &Returned) -> Block {
        let polled = self.cold_block();
        let failure = match self.failure {
            Some(block) => block,
            None => {
                let block = self.cold_block();
                self.b.append_block_param(block, I64);
                *self.failure.insert(block)
            }
        };
        let status = [BlockArg::from(returned.status)];
        self.b.ins().brif(returned.low, failure, &status, polled, &[]);
        polled
    }

    /// As [`Emitter::pass_on_failure`], but a callee that ended with the status `handled` does not
    /// leave the frame either.
    pub(super) fn pass_on_other_failure(&mut self, returned: &Returned, handled: u64) -> Block {
        self.switch_to(returned.cold);
        let (here, other) = (self.cold_block(), self.cold_block());
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, returned.low, handled as i64);
        self.branch(same, here, other);
        self.switch_to(other);
        let polled = self.pass_on(returned);
        self.switch_to(polled);
        self.jump(here);
        here
    }

    /// Emits `block`, which leaves the frame with the status of a callee that failed or yields.
    pub(super) fn fail(&mut self, block: Block) {
        self.switch_to(block);
        let status_ = self.b.block_params(block)[0];
        let (error, out) = (self.cold_block(), self.cold_block());
        let low = self.b.ins().ireduce(I8, status_);
        let failed = self.b.ins().icmp_imm_u(IntCC::Equal, low, status::ERROR as i64);
        self.branch(failed, error, out);
        // errors are unwound from `State::base`
        self.switch_to(error);
        let base = self.return_base();
        let st = self.state();
        self.store(Region::State, base, st, state::BASE);
        self.leave_with(status_, base);
        // After a yield `State::base` stays that of the yielding frame. In that case, the returned
        // base is not that of the callee: nothing may be loaded from there.
        self.switch_to(out);
        let unused = self.outermost_base();
        self.leave_with(status_, unused);
    }

    /// Stores the results of a callee from register `a` on, as many as a call with operand C
    /// expects.
    pub(crate) fn store_results(&mut self, a: Reg, c: usize, returned: &Returned) {
        let Returned { status, bits, tag, .. } = *returned;
        let base = self.base();
        match c {
            1 => {}
            2 => self.store_register_at(base, a, bits, tag),
            0 => {
                let n = self.b.ins().ushr_imm_u(status, RESULTS_SHIFT);
                let (one, on) = (self.block(), self.block());
                let c = self.b.ins().icmp_imm_u(IntCC::Equal, n, 1);
                self.branch(c, one, on);
                self.switch_to(one);
                self.store_register_at(base, a, bits, tag);
                self.jump(on);
                self.switch_to(on);
                let size = self.b.ins().ishl_imm_u(n, i64::from(value::LOG_SIZE));
                let first = self.address(a);
                let top = self.b.ins().iadd(first, size);
                let st = self.state();
                self.store(Region::State, top, st, state::TOP);
            }
            _ => {
                // the first is in machine registers in any case
                self.store_register_at(base, a, bits, tag);
                let n = self.b.ins().ushr_imm_u(status, RESULTS_SHIFT);
                let nil = self.int(0);
                for j in 1..c - 1 {
                    let (fill, next) = (self.block(), self.block());
                    let missing =
                        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, n, j as i64);
                    self.branch(missing, fill, next);
                    self.switch_to(fill);
                    self.store_register_at(base, a + j, nil, nil);
                    self.jump(next);
                    self.switch_to(next);
                }
            }
        }
    }

    /// Stores this number of results of a callee in register `callee` to the registers from `to`
    /// on, which is not above the callee.
    pub(crate) fn take_results(&mut self, to: Reg, callee: Reg, wanted: usize, r: &Returned) {
        if wanted == 0 {
            return;
        }
        let base = self.base();
        self.store_register_at(base, to, r.bits, r.tag);
        if wanted == 1 {
            return;
        }
        let n = self.b.ins().ushr_imm_u(r.status, RESULTS_SHIFT);
        let nil = self.int(0);
        for j in 1..wanted {
            let (there, missing) = (self.block(), self.block());
            let next = self.block();
            let is_there = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, n, j as i64);
            self.branch(is_there, there, missing);
            self.switch_to(there);
            let (bits, tag) = self.load_register(callee + j, I64);
            self.store_register_at(base, to + j, bits, tag);
            self.jump(next);
            self.switch_to(missing);
            self.store_register_at(base, to + j, nil, nil);
            self.jump(next);
            self.switch_to(next);
        }
    }

    /// Returns the end of the live registers after a call with operand C.
    pub(crate) fn top_after_call(&mut self, c: usize) -> Value {
        let end = self.frame_end();
        if c != 0 {
            return end;
        }
        let top = self.load_top();
        self.b.ins().umax(end, top)
    }

    /// Branches to `other` if a request is pending in the poll word.
    pub(crate) fn guard_nothing_to_poll(&mut self, other: Block) {
        let word = self.poll_word();
        self.guard_not(word, other);
    }

    /// Ends the block: replaces the frame by one of the Lua function `callee` and jumps to it. The
    /// frame must not have been moved by extra arguments.
    pub(crate) fn tail_call(&mut self, base: Value, callee: Value, args: &[(Value, Value)]) {
        self.store(Region::Slots, callee, base, frame::CALLEE);
        for (n, &(bits, tag)) in args.iter().enumerate() {
            self.store_register_at(base, Reg::new(n), bits, tag);
        }
        let link = self.load(Region::Slots, I64, base, frame::LINK);
        let (keeps, gets) = (self.int(TAIL_KEEPS as i64), self.int(TAIL_GETS as i64));
        let link = self.b.ins().band(link, keeps);
        let link = self.b.ins().bor(link, gets);
        self.store(Region::Slots, link, base, frame::LINK);
        let entry = self.entry_of(callee);
        let nargs = self.int(args.len() as i64);
        self.b.ins().return_call_indirect(self.entry_sig, entry, &[callee, base, nargs]);
    }

    /// Makes a tail call in the runtime, for the instruction before `pc`. `args` are those of
    /// `RuntimeCalls::tail_call` after the frame word. Jumps to the Lua function if the runtime has
    /// replaced the frame by one of that function; continues if the runtime has called the function
    /// itself.
    pub(crate) fn call_tail_call(&mut self, pc: Pc, args: &[Value]) {
        let word = self.frame_word(pc);
        let (status, base) = self.call_step(self.body.calls.tail_call as usize, word, args);
        self.check_low(status);
        self.set_base(base);
        let (jump, on) = (self.block(), self.block());
        let high = self.b.ins().ushr_imm_u(status, RESULTS_SHIFT);
        self.branch(high, jump, on);
        self.switch_to(jump);
        let base = self.base();
        let callee = self.load_callee(base);
        let nargs = self.b.ins().iadd_imm_s(high, -1);
        let entry = self.entry_of(callee);
        self.b.ins().return_call_indirect(self.entry_sig, entry, &[callee, base, nargs]);
        self.switch_to(on);
    }
}

/// Returns.
impl Emitter<'_> {
    /// Ends the block: returns nothing. `nil` is the payload and the tag of nil.
    pub(crate) fn return_none(&mut self, nil: Value) {
        let base = self.return_base();
        self.b.ins().return_(&[nil, nil, nil, base]);
    }

    /// Ends the block: returns one value.
    pub(crate) fn return_one(&mut self, bits: Value, tag: Value) {
        let base = self.return_base();
        let one = self.int(1 << RESULTS_SHIFT);
        self.b.ins().return_(&[one, bits, tag, base]);
    }

    /// Ends the block: returns `n` values from register `a` on.
    pub(crate) fn return_many(&mut self, a: Reg, n: Value) {
        let base = self.return_base();
        let src = self.address(a);
        let dst = self.b.ins().iadd_imm_s(base, i64::from(frame::CALLEE));
        let some = self.block();
        let (out, first) = self.pair_block();
        let nil = self.int(0);
        let empty = [BlockArg::from(nil), BlockArg::from(nil)];
        self.b.ins().brif(n, some, &[], out, &empty);
        self.switch_to(some);
        self.runtime(self.body.calls.move_values as usize, &[src, dst, n], &[]);
        let value = self.load_value(Region::Slots, dst, 0);
        self.jump_pair(out, value);
        self.switch_to(out);
        let status = self.b.ins().ishl_imm_u(n, RESULTS_SHIFT);
        self.b.ins().return_(&[status, first.0, first.1, base]);
    }
}
