//! Entries, calls and returns.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, Inst, InstBuilder, Value};
use perilune_bytecode::Op;
use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::layout::{self, closure, frame, instance, value};
use perilune_runtime::tier::{MISS, status};
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{Join, MEM, Translator};
use crate::feedback::snapshot::CalleeSeen;

/// The bits of the frame's link that a tail call keeps: its distance, and how its caller waits.
const TAIL_KEEPS: u64 = Link::new(flags::RETURN_SLOW, 0, 0xF_FFFF).0;
/// The bits that it sets.
const TAIL_GETS: u64 = Link::new(flags::TAIL, 0, 0).0;

impl Translator<'_> {
    /// The beginning of a function: is there room, and are all parameters there?
    pub(super) fn prologue(&mut self, nargs: Value) {
        let params: usize = self.proto.num_params.into();
        let base = self.load_base();
        let st = self.state();
        let size = i64::from(frame::slot(self.proto.max_stack.into()));
        let end = if self.proto.is_vararg {
            let n = self.b.ins().iadd_imm_s(nargs, (params + Frame::RESERVED) as i64);
            let n = self.b.ins().ishl_imm_u(n, i64::from(value::LOG_SIZE));
            let end = self.b.ins().iadd(base, n);
            self.b.ins().iadd_imm_s(end, size)
        } else {
            self.b.ins().iadd_imm_s(base, size)
        };
        let limit = self.b.ins().load(I64, MEM, st, layout::state::LIMIT as i32);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, limit);
        let (stub, roomy, on) = (self.cold_block(), self.b.create_block(), self.b.create_block());
        self.b.ins().brif(full, stub, &[], roomy, &[]);
        self.b.switch_to_block(roomy);
        let native = self.b.ins().load(I64, MEM, st, layout::state::NATIVE_LIMIT as i32);
        let sp = self.b.ins().get_stack_pointer(I64);
        let deep = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, native);
        if self.counts {
            let (shallow, paid) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(deep, stub, &[], shallow, &[]);
            self.b.switch_to_block(shallow);
            let (left, enough) = self.fuel_after(self.proto.code.len());
            self.b.ins().brif(enough, paid, &[], stub, &[]);
            self.b.switch_to_block(paid);
            self.set_fuel(left);
            self.b.ins().jump(on, &[]);
        } else {
            self.b.ins().brif(deep, stub, &[], on, &[]);
        }
        // the interpreter makes room, or stops the script
        self.b.switch_to_block(stub);
        let entry = self.int(self.calls.interpret as usize as i64);
        let args = [self.passed_closure, base, nargs];
        self.b.ins().return_call_indirect(self.entry_sig, entry, &args);
        self.b.switch_to_block(on);
        if self.proto.is_vararg {
            let st = self.state();
            let inst = self.runtime(self.calls.vararg_prep as usize, &[st, base, nargs], &[I64]);
            let base = self.b.inst_results(inst)[0];
            self.set_base(base);
            return;
        }
        if params == 0 {
            return;
        }
        let (few, on) = (self.cold_block(), self.b.create_block());
        let missing = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, nargs, params as i64);
        self.b.ins().brif(missing, few, &[], on, &[]);
        self.b.switch_to_block(few);
        let nil = self.int(0);
        for p in 0..params {
            let (fill, next) = (self.cold_block(), self.cold_block());
            let c = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, nargs, p as i64);
            self.b.ins().brif(c, fill, &[], next, &[]);
            self.b.switch_to_block(fill);
            self.b.ins().store(MEM, nil, base, frame::slot(p));
            self.b.ins().istore8(MEM, nil, base, frame::tag(p));
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(next);
        }
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }

    /// Number of arguments of the call at `pc`, whose callee is in register `a`.
    fn argument_count(&mut self, a: usize, b: usize) -> Value {
        if b != 0 {
            return self.int(b as i64 - 1);
        }
        let st = self.state();
        let top = self.b.ins().load(I64, MEM, st, layout::state::TOP as i32);
        let first = self.address(a + Frame::RESERVED);
        let bytes = self.b.ins().isub(top, first);
        self.b.ins().ushr_imm_u(bytes, i64::from(value::LOG_SIZE))
    }

    fn slot_of(&mut self, callee: Value) -> Value {
        let inst = self.b.ins().load(I64, MEM, callee, closure::INSTANCE as i32);
        self.b.ins().load(I64, MEM, inst, instance::SLOT as i32)
    }

    pub(super) fn entry_of(&mut self, callee: Value) -> Value {
        let slot = self.slot_of(callee);
        self.b.ins().load(I64, MEM, slot, 0)
    }

    /// Calls a Lua function: directly, if it is the one in this module that the call at `pc` is
    /// likely to have.
    fn call_entry(&mut self, pc: usize, args: &[Value; 3]) -> [Value; 4] {
        let callee = args[0];
        let Some(&likely) = self.direct.get(&(pc as u32)) else {
            let entry = self.entry_of(callee);
            let inst = self.b.ins().call_indirect(self.entry_sig, entry, args);
            return std::array::from_fn(|n| self.b.inst_results(inst)[n]);
        };
        let (direct, other) = (self.b.create_block(), self.cold_block());
        let done = self.b.create_block();
        for _ in 0..4 {
            self.b.append_block_param(done, I64);
        }
        let same = if likely.is_self {
            // one closure calls itself
            let own = self.closure();
            self.b.ins().icmp(IntCC::Equal, callee, own)
        } else {
            let slot = self.slot_of(callee);
            let known = self.int(likely.slot as i64);
            self.b.ins().icmp(IntCC::Equal, slot, known)
        };
        self.b.ins().brif(same, direct, &[], other, &[]);
        self.b.switch_to_block(direct);
        let member = self.callees.member(likely.member, self.b.func);
        let inst = self.b.ins().call(member, args);
        self.return_to(done, inst);
        self.b.switch_to_block(other);
        let entry = self.entry_of(callee);
        let inst = self.b.ins().call_indirect(self.entry_sig, entry, args);
        self.return_to(done, inst);
        self.b.switch_to_block(done);
        std::array::from_fn(|n| self.b.block_params(done)[n])
    }

    fn return_to(&mut self, block: Block, call: Inst) {
        let results: Vec<BlockArg> =
            self.b.inst_results(call).iter().map(|v| BlockArg::from(*v)).collect();
        self.b.ins().jump(block, &results);
    }

    pub(super) fn call(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (a, c) = (i.a(), i.c());
        let (callee, tag) = self.any(a);
        let nargs = self.argument_count(a, i.b());
        let seen = match self.snapshot.callees[self.snapshot.cells[pc] as usize] {
            _ if self.snapshot.general => CalleeSeen::Several,
            seen => seen,
        };
        let other = if seen == CalleeSeen::Lua { self.cold_block() } else { self.b.create_block() };
        let done = self.join_block(I64);
        if seen != CalleeSeen::Native && self.require(&[tag], Tag::FUNCTION, other) {
            self.lua_call(pc, a, c, callee, nargs, done);
        } else {
            self.b.ins().jump(other, &[]);
        }
        self.b.switch_to_block(other);
        if matches!(c, 1 | 2) && seen != CalleeSeen::Lua {
            self.builtin(a, c, callee, tag, nargs, done);
        }
        let at = self.address(a);
        let st = self.state();
        self.runtime_step(self.calls.call as usize, pc + 1, &[st, at, nargs]);
        let (bits, tag) = self.load_home(a, I64);
        self.join(done, bits, tag);
        self.regs.forget_all();
        self.b.switch_to_block(done.block);
        if c == 2 {
            self.take_value(done, a);
        }
    }

    /// Calls the Lua function `callee`, which lies in register `a` with its arguments above, for
    /// CALL's operand C; ends the block.
    pub(super) fn lua_call(
        &mut self,
        pc: usize,
        a: usize,
        c: usize,
        callee: Value,
        nargs: Value,
        done: Join,
    ) {
        let base = self.load_base();
        let word = self.frame_word(pc + 1);
        self.b.ins().store(MEM, word, base, frame::WORD);
        let link = self.int(Link::new(0, 0, a + Frame::RESERVED).0 as i64);
        self.b.ins().store(MEM, link, base, frame::slot(a + Frame::RESERVED) + frame::LINK);
        let new_base = self.address(a + Frame::RESERVED);
        let args = [callee, new_base, nargs];
        let [st_, bits, tag, base] = self.call_entry(pc, &args);
        let base = self.b.ins().iadd_imm_s(base, -i64::from(frame::slot(a + Frame::RESERVED)));
        self.set_base(base);
        // status and poll word in one test
        let low = self.b.ins().ireduce(I32, st_);
        let st = self.state();
        let word = self.b.ins().load(I32, MEM, st, layout::state::POLL as i32);
        let any = self.b.ins().bor(low, word);
        let (cold, good) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(any, cold, &[], good, &[]);
        self.b.switch_to_block(good);
        self.results(a, c, st_, bits, tag);
        self.join(done, bits, tag);
        self.b.switch_to_block(cold);
        let (failed, poll) = (self.cold_block(), self.cold_block());
        self.b.ins().brif(low, failed, &[], poll, &[]);
        self.b.switch_to_block(failed);
        self.pass_on(st_);
        self.b.switch_to_block(poll);
        self.results(a, c, st_, bits, tag);
        let top = self.top_after_call(c);
        let st = self.state();
        let base = self.load_base();
        self.b.ins().store(MEM, base, st, layout::state::BASE as i32);
        self.runtime_saved(self.calls.poll as usize, &[st, top]);
        // read again, so that nothing is kept across the call that hardly ever happens
        let (bits, tag) = if c == 2 { self.load_home(a, I64) } else { (bits, tag) };
        self.join(done, bits, tag);
    }

    /// A call of a library function that machine code knows, for one result or none: goes to `done`
    /// if that was one, else continues after it.
    fn builtin(&mut self, a: usize, c: usize, callee: Value, tag: Known, nargs: Value, done: Join) {
        let unknown = self.b.create_block();
        if !self.require(&[tag], Tag::NATIVE, unknown) {
            self.b.ins().jump(unknown, &[]);
            self.b.switch_to_block(unknown);
            return;
        }
        let number = self.b.ins().load(I32, MEM, callee, layout::header::WORD as i32);
        let known = self.b.create_block();
        self.b.ins().brif(number, known, &[], unknown, &[]);
        self.b.switch_to_block(known);
        let table = self.int(self.calls.builtins.as_ptr() as i64);
        let number = self.b.ins().uextend(I64, number);
        let offset = self.b.ins().ishl_imm_u(number, 3);
        let place = self.b.ins().iadd(table, offset);
        let function = self.b.ins().load(I64, MEM, place, 0);
        let st = self.state();
        let args = self.address(a + Frame::RESERVED);
        let inst = self.runtime_at(function, &[st, args, nargs], &[I64, I64]);
        let (bits, tag) = (self.b.inst_results(inst)[0], self.b.inst_results(inst)[1]);
        let missed = self.b.ins().icmp_imm_u(IntCC::Equal, tag, MISS as i64);
        let found = self.b.create_block();
        self.b.ins().brif(missed, unknown, &[], found, &[]);
        self.b.switch_to_block(found);
        if c == 2 {
            let base = self.load_base();
            self.b.ins().store(MEM, bits, base, frame::slot(a));
            self.b.ins().istore8(MEM, tag, base, frame::tag(a));
        }
        self.join(done, bits, tag);
        self.b.switch_to_block(unknown);
    }

    /// Returns the end of the live registers after a call with operand C.
    pub(super) fn top_after_call(&mut self, c: usize) -> Value {
        let end = self.frame_end();
        if c != 0 {
            return end;
        }
        let st = self.state();
        let top = self.b.ins().load(I64, MEM, st, layout::state::TOP as i32);
        self.b.ins().umax(end, top)
    }

    /// Puts the results of a callee of machine code where CALL wants them.
    fn results(&mut self, a: usize, c: usize, status_: Value, bits: Value, tag: Value) {
        let base = self.load_base();
        match c {
            1 => {}
            2 => {
                self.b.ins().store(MEM, bits, base, frame::slot(a));
                self.b.ins().istore8(MEM, tag, base, frame::tag(a));
            }
            0 => {
                let n = self.b.ins().ushr_imm_u(status_, 32);
                let (one, on) = (self.b.create_block(), self.b.create_block());
                let c = self.b.ins().icmp_imm_u(IntCC::Equal, n, 1);
                self.b.ins().brif(c, one, &[], on, &[]);
                self.b.switch_to_block(one);
                self.b.ins().store(MEM, bits, base, frame::slot(a));
                self.b.ins().istore8(MEM, tag, base, frame::tag(a));
                self.b.ins().jump(on, &[]);
                self.b.switch_to_block(on);
                let size = self.b.ins().ishl_imm_u(n, i64::from(value::LOG_SIZE));
                let first = self.address(a);
                let top = self.b.ins().iadd(first, size);
                let st = self.state();
                self.b.ins().store(MEM, top, st, layout::state::TOP as i32);
            }
            _ => {
                // the first is in registers in any case
                self.b.ins().store(MEM, bits, base, frame::slot(a));
                self.b.ins().istore8(MEM, tag, base, frame::tag(a));
                let n = self.b.ins().ushr_imm_u(status_, 32);
                let nil = self.int(0);
                for j in 1..c - 1 {
                    let (fill, next) = (self.b.create_block(), self.b.create_block());
                    let missing =
                        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, n, j as i64);
                    self.b.ins().brif(missing, fill, &[], next, &[]);
                    self.b.switch_to_block(fill);
                    self.b.ins().store(MEM, nil, base, frame::slot(a + j));
                    self.b.ins().istore8(MEM, nil, base, frame::tag(a + j));
                    self.b.ins().jump(next, &[]);
                    self.b.switch_to_block(next);
                }
            }
        }
    }

    /// Leaves the frame with the status of a callee that failed or yields.
    pub(super) fn pass_on(&mut self, status_: Value) {
        let base = self.return_base();
        // an error finds its way by `State::base`; of a yield the top frame is the yielding one
        let (error, out) = (self.b.create_block(), self.b.create_block());
        let low = self.b.ins().ireduce(I8, status_);
        let failed = self.b.ins().icmp_imm_u(IntCC::Equal, low, status::ERROR as i64);
        self.b.ins().brif(failed, error, &[], out, &[]);
        self.b.switch_to_block(error);
        let st = self.state();
        self.b.ins().store(MEM, base, st, layout::state::BASE as i32);
        self.b.ins().jump(out, &[]);
        self.b.switch_to_block(out);
        let nil = self.int(0);
        self.b.ins().return_(&[status_, nil, nil, base]);
    }

    /// The base that the frame had before extra arguments moved it: what is returned.
    fn return_base(&mut self) -> Value {
        let base = self.load_base();
        if !self.proto.is_vararg {
            return base;
        }
        let link = self.b.ins().load(I64, MEM, base, frame::LINK);
        let extra = self.b.ins().ushr_imm_u(link, i64::from(Link::EXTRA_SHIFT));
        let extra = self.b.ins().band_imm_u(extra, Link::EXTRA_MASK as i64);
        let shift =
            self.b.ins().iadd_imm_s(extra, self.proto.num_params as i64 + Frame::RESERVED as i64);
        let bytes = self.b.ins().ishl_imm_u(shift, i64::from(value::LOG_SIZE));
        self.b.ins().isub(base, bytes)
    }

    pub(super) fn return_results(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let nil = self.int(0);
        match i.op() {
            Op::Return0 => {
                let base = self.return_base();
                self.b.ins().return_(&[nil, nil, nil, base]);
            }
            Op::Return1 => self.return_one(i.a()),
            _ => {
                if i.c() != 0 {
                    let results = self.address(i.a());
                    let n = self.return_count(i.a(), i.b());
                    let st = self.state();
                    self.runtime_step(self.calls.close_return as usize, pc + 1, &[st, results, n]);
                    self.regs.forget_all();
                }
                match i.b() {
                    1 => {
                        let base = self.return_base();
                        self.b.ins().return_(&[nil, nil, nil, base]);
                    }
                    2 => self.return_one(i.a()),
                    b => self.return_many(i.a(), b),
                }
            }
        }
    }

    fn return_count(&mut self, a: usize, b: usize) -> Value {
        if b != 0 {
            return self.int(b as i64 - 1);
        }
        let st = self.state();
        let top = self.b.ins().load(I64, MEM, st, layout::state::TOP as i32);
        let first = self.address(a);
        let bytes = self.b.ins().isub(top, first);
        self.b.ins().ushr_imm_u(bytes, i64::from(value::LOG_SIZE))
    }

    fn return_one(&mut self, a: usize) {
        let (bits, tag) = self.any(a);
        let tag = self.tag_value(tag);
        let base = self.return_base();
        let one = self.int(1 << 32);
        self.b.ins().return_(&[one, bits, tag, base]);
    }

    fn return_many(&mut self, a: usize, b: usize) {
        let n = self.return_count(a, b);
        let base = self.return_base();
        let src = self.address(a);
        let dst = self.b.ins().iadd_imm_s(base, i64::from(frame::CALLEE));
        let (some, out) = (self.b.create_block(), self.pair_block());
        let nil = self.int(0);
        let empty = [BlockArg::from(nil), BlockArg::from(nil)];
        self.b.ins().brif(n, some, &[], out, &empty);
        self.b.switch_to_block(some);
        self.runtime(self.calls.move_values as usize, &[src, dst, n], &[]);
        let (bits, tag) = self.load_value(dst, 0);
        self.b.ins().jump(out, &[BlockArg::from(bits), BlockArg::from(tag)]);
        self.b.switch_to_block(out);
        let first = self.b.block_params(out).to_vec();
        let status_ = self.b.ins().ishl_imm_u(n, 32);
        self.b.ins().return_(&[status_, first[0], first[1], base]);
    }

    pub(super) fn tail_call(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        if i.b() != 0 && i.c() == 0 && !self.proto.is_vararg {
            self.simple_tail_call(pc);
        }
        let nargs = self.argument_count(i.a(), i.b());
        let at = self.address(i.a());
        let st = self.state();
        let close = self.b.ins().iconst(I8, (i.c() != 0) as i64);
        let status_ =
            self.runtime_step(self.calls.tail_call as usize, pc + 1, &[st, at, nargs, close]);
        let (jump, on) = (self.b.create_block(), self.b.create_block());
        let high = self.b.ins().ushr_imm_u(status_, 32);
        self.b.ins().brif(high, jump, &[], on, &[]);
        self.b.switch_to_block(jump);
        let base = self.load_base();
        let callee = self.b.ins().load(I64, MEM, base, frame::CALLEE);
        let nargs = self.b.ins().iadd_imm_s(high, -1);
        let entry = self.entry_of(callee);
        self.b.ins().return_call_indirect(self.entry_sig, entry, &[callee, base, nargs]);
        self.b.switch_to_block(on);
        self.regs.forget_all();
    }

    /// TAILCALL of a Lua function with a known number of arguments while nothing is to be polled;
    /// else continues after it.
    fn simple_tail_call(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let nargs = i.b() - 1;
        let (callee, tag) = self.any(i.a());
        let other = self.cold_block();
        if !self.require(&[tag], Tag::FUNCTION, other) {
            self.b.ins().jump(other, &[]);
            self.b.switch_to_block(other);
            return;
        }
        let st = self.state();
        let word = self.b.ins().load(I32, MEM, st, layout::state::POLL as i32);
        let on = self.b.create_block();
        self.b.ins().brif(word, other, &[], on, &[]);
        self.b.switch_to_block(on);
        let base = self.load_base();
        let args: Vec<(Value, Value)> = (0..nargs)
            .map(|n| {
                let (bits, tag) = self.any(i.a() + Frame::RESERVED + n);
                (bits, self.tag_value(tag))
            })
            .collect();
        self.b.ins().store(MEM, callee, base, frame::CALLEE);
        for (n, (bits, tag)) in args.into_iter().enumerate() {
            self.b.ins().store(MEM, bits, base, frame::slot(n));
            self.b.ins().istore8(MEM, tag, base, frame::tag(n));
        }
        let link = self.b.ins().load(I64, MEM, base, frame::LINK);
        let (keeps, gets) = (self.int(TAIL_KEEPS as i64), self.int(TAIL_GETS as i64));
        let link = self.b.ins().band(link, keeps);
        let link = self.b.ins().bor(link, gets);
        self.b.ins().store(MEM, link, base, frame::LINK);
        let entry = self.entry_of(callee);
        let nargs = self.int(nargs as i64);
        self.b.ins().return_call_indirect(self.entry_sig, entry, &[callee, base, nargs]);
        self.b.switch_to_block(other);
        self.regs.begin();
    }

    pub(super) fn var_arg(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (st, base) = (self.state(), self.load_base());
        let (a, c) = (self.int(i.a() as i64), self.int(i.c() as i64));
        let inst = self.runtime(self.calls.var_arg as usize, &[st, base, a, c], &[I64]);
        let done = self.b.inst_results(inst)[0];
        self.unless_generic(pc, done);
        if i.c() == 0 {
            self.regs.forget_from(i.a());
        } else {
            for r in i.a()..i.a() + i.c() - 1 {
                self.regs.forget(r);
            }
        }
    }

    /// CALLMETA: mostly the making of an object.
    pub(super) fn call_meta(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        if i.c() <= 2 {
            let ra = self.address(i.a());
            let st = self.state();
            let c = self.int(i.c() as i64);
            let inst = self.runtime(self.calls.set_class as usize, &[st, ra, c], &[I64]);
            let done = self.b.inst_results(inst)[0];
            self.unless_generic(pc, done);
        } else {
            self.generic(pc);
        }
        self.regs.forget_all();
        let top = self.top_after_call(i.c());
        self.poll(pc + 1, top);
    }

    /// Translates CLOSE: runs until everything is closed.
    pub(super) fn close(&mut self, pc: usize) {
        let place = self.address(self.proto.code[pc].a());
        let st = self.state();
        let inst = self.runtime(self.calls.close as usize, &[st, place], &[I64]);
        let done = self.b.inst_results(inst)[0];
        let (again, out) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(done, out, &[], again, &[]);
        self.b.switch_to_block(again);
        self.generic(pc);
        let base = self.load_base();
        let at = self.b.ins().load(I32, MEM, base, frame::PC);
        let done = self.b.ins().icmp_imm_u(IntCC::Equal, at, pc as i64 + 1);
        self.b.ins().brif(done, out, &[], again, &[]);
        self.b.switch_to_block(out);
        self.regs.forget_all();
    }
}
