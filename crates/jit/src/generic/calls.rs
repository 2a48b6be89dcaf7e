//! Translates calls and returns.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Translator;
use super::builtins::BuiltinCall;
use crate::codegen::value::Join;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::CalleeSeen;

impl Translator<'_> {
    /// Translates CALL.
    pub(super) fn call(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let done = self.call_storing(pc, true);
        match i.c() {
            2 => self.take_value(done, i.ra()),
            _ => self.emit.switch_to(done.block),
        }
    }

    /// Translates CALL with one result; returns payload and tag of the result, which is not stored.
    pub(super) fn call_for_value(&mut self, pc: Pc) -> (Value, Value) {
        let done = self.call_storing(pc, false);
        self.emit.switch_to(done.block);
        (self.emit.joined_bits(done), self.emit.joined_tag(done))
    }

    /// Translates CALL up to the merge point with its first result. A single result is also left in
    /// its home slot if `stores`.
    fn call_storing(&mut self, pc: Pc, stores: bool) -> Join {
        let i = self.instr(pc);
        let (a, c) = (i.ra(), i.c());
        let (callee, tag) = self.any(a);
        let nargs = self.emit.argument_count(a, i.b());
        let seen = match self.snapshot.callee(pc) {
            _ if self.snapshot.general => CalleeSeen::Several,
            seen => seen,
        };
        let lua = matches!(seen, CalleeSeen::Lua | CalleeSeen::LuaFirst);
        let other = if lua { self.emit.cold_block() } else { self.emit.block() };
        let done = self.emit.join_block(I64);
        let is_frameless = matches!(seen, CalleeSeen::Builtin(_));
        let is_native = matches!(
            seen,
            CalleeSeen::Native | CalleeSeen::PCall | CalleeSeen::Ipairs | CalleeSeen::Pairs
        );
        if !is_native && !is_frameless && self.emit.require(&[tag], Tag::FUNCTION, other) {
            self.lua_call(pc, (a, c, stores), callee, nargs, done);
        } else {
            self.emit.jump(other);
        }
        self.emit.switch_to(other);
        // machine code cannot call other native functions
        let may_be_frameless = !is_native && seen != CalleeSeen::Object;
        if matches!(c, 1 | 2) && !lua && may_be_frameless {
            let (arguments, has_result) = (i.b().checked_sub(1), c == 2);
            let stores = has_result && stores;
            let call = BuiltinCall { a, arguments, has_result, stores, callee, tag, nargs };
            match seen {
                CalleeSeen::Builtin(number) => self.likely_builtin(number, call, done),
                _ => self.any_builtin(call, done),
            }
        }
        if seen == CalleeSeen::Object && i.b() != 0 {
            self.object_call(pc, (a, c, stores), i.b() - 1, done);
        }
        if seen == CalleeSeen::PCall {
            self.protected_call(pc, (a, c, stores), (callee, tag), done);
        }
        let at = self.emit.address(a);
        self.emit.runtime_step(self.calls.call as usize, pc + 1, &[at, nargs]);
        let (bits, tag) = self.emit.load_register(a, I64);
        self.emit.join(done, bits, tag);
        self.regs.forget_all();
        done
    }

    /// Calls the Lua function `callee`, which lies in register `a` with its arguments above, for
    /// CALL's operand C; ends the block. A single result is left in its home slot if `stores`.
    pub(super) fn lua_call(
        &mut self,
        pc: Pc,
        (a, c, stores): (Reg, usize, bool),
        callee: Value,
        nargs: Value,
        done: Join,
    ) {
        let base = self.emit.begin_call(a, pc + 1);
        let args = [callee, base, nargs];
        let results = match self.direct.get(&pc.as_u32()) {
            Some(&likely) => self.emit.call_likely(likely, &args),
            None => self.emit.call_slot(&args),
        };
        let returned = self.emit.end_call(a, results);
        self.emit.switch_to(returned.good);
        if stores || c != 2 {
            self.emit.store_results(a, c, &returned);
        }
        self.emit.join(done, returned.bits, returned.tag);
        let polled = self.emit.pass_on_failure(&returned);
        self.emit.switch_to(polled);
        self.emit.store_results(a, c, &returned);
        let top = self.emit.top_after_call(c);
        self.emit.poll_after_call(None, top);
        // loaded again, so that no register is kept across this rare call
        let (bits, tag) =
            if c == 2 { self.emit.load_register(a, I64) } else { (returned.bits, returned.tag) };
        self.emit.join(done, bits, tag);
    }

    /// Calls the `__call` of the value in register `a`, with this number of arguments, if it is a
    /// Lua function; otherwise continues.
    fn object_call(
        &mut self,
        pc: Pc,
        (a, c, stores): (Reg, usize, bool),
        arguments: usize,
        done: Join,
    ) {
        let object = self.emit.load_register(a, I64);
        let (h, none) = self.find_handler(Event::Call, object, object);
        // the object becomes the first argument
        let first = a + Frame::RESERVED;
        for r in (0..arguments).rev().map(|n| first + n) {
            let (bits, tag) = self.emit.load_register(r, I64);
            self.emit.store_register(r + 1, bits, tag);
        }
        self.emit.store_register(first, object.0, object.1);
        let function = self.emit.tag(Tag::FUNCTION);
        self.emit.store_register(a, h, function);
        let nargs = self.emit.int(arguments as i64 + 1);
        self.lua_call(pc, (a, c, stores), h, nargs, done);
        self.emit.switch_to(none);
    }

    /// Translates RETURN.
    pub(super) fn return_results(&mut self, pc: Pc) {
        let i = self.instr(pc);
        if i.c() != 0 && !self.has_values_to_close(0) {
            let base = self.emit.base();
            self.emit.close_upvalues(base);
        } else if i.c() != 0 {
            let results = self.emit.address(i.ra());
            let n = self.return_count(i.ra(), i.b());
            let args = [results, n];
            self.emit.runtime_step(self.calls.close_return as usize, pc + 1, &args);
            self.regs.forget_all();
        }
        match i.b() {
            1 => {
                let nil = self.emit.int(0);
                self.emit.return_none(nil);
            }
            2 => self.return_one(i.ra()),
            b => {
                let n = self.return_count(i.ra(), b);
                self.emit.return_many(i.ra(), n);
            }
        }
    }

    fn return_count(&mut self, a: Reg, b: usize) -> Value {
        if b != 0 { self.emit.int(b as i64 - 1) } else { self.emit.count_from(a) }
    }

    fn return_one(&mut self, a: Reg) {
        let (bits, tag) = self.any(a);
        let tag = self.emit.tag_value(tag);
        self.emit.return_one(bits, tag);
    }

    /// Translates TAILCALL.
    pub(super) fn tail_call(&mut self, pc: Pc) {
        let i = self.instr(pc);
        if i.c() == 0 && !self.proto.is_vararg {
            self.simple_tail_call(pc);
        }
        let nargs = self.emit.argument_count(i.ra(), i.b());
        let at = self.emit.address(i.ra());
        let close = self.emit.ins().iconst(I8, (i.c() != 0) as i64);
        let args = [at, nargs, close];
        self.emit.call_tail_call(pc + 1, &args);
        self.regs.forget_all();
    }

    /// Translates TAILCALL of a Lua function if no request is pending in the poll word and the last
    /// argument is a single value, as is usual for the results of a call; otherwise continues.
    fn simple_tail_call(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let first = i.ra() + Frame::RESERVED;
        let count = match i.b() {
            0 => (self.instr(pc - 1).a() + 1).checked_sub(first.index()),
            b => Some(b - 1),
        };
        let Some(count) = count else { return };
        let (callee, tag) = self.any(i.ra());
        let other = self.emit.cold_block();
        if !self.emit.require(&[tag], Tag::FUNCTION, other) {
            self.emit.jump(other);
            self.emit.switch_to(other);
            return;
        }
        self.emit.guard_nothing_to_poll(other);
        if i.b() == 0 {
            let found = self.emit.count_from(first);
            let same = self.emit.ins().icmp_imm_u(IntCC::Equal, found, count as i64);
            self.emit.guard(same, other);
        }
        let base = self.emit.base();
        let args: Vec<(Value, Value)> = (0..count)
            .map(|n| {
                let (bits, tag) = self.any(first + n);
                (bits, self.emit.tag_value(tag))
            })
            .collect();
        self.emit.tail_call(base, callee, &args);
        self.emit.switch_to(other);
        self.regs.begin();
    }

    /// Translates VARARG.
    pub(super) fn var_arg(&mut self, pc: Pc) {
        let i = self.instr(pc);
        if i.c() == 0 {
            let (full, done) = (self.emit.cold_block(), self.emit.block());
            self.emit.copy_extra(i.ra(), full);
            self.emit.jump(done);
            self.emit.end_slowly(full, pc, done);
            return self.regs.forget_from(i.ra());
        }
        let (st, base) = (self.emit.state(), self.emit.base());
        let (a, c) = (self.emit.int(i.a() as i64), self.emit.int(i.c() as i64));
        let done = self.emit.runtime_word(self.calls.var_arg as usize, &[st, base, a, c]);
        self.emit.unless_generic(pc, done);
        for r in i.ra().range(i.c() - 1) {
            self.regs.forget(r);
        }
    }

    /// Translates CALLMETA, which mostly creates an object.
    pub(super) fn call_meta(&mut self, pc: Pc) {
        let i = self.instr(pc);
        if i.c() <= 2 {
            let ra = self.emit.address(i.ra());
            let st = self.emit.state();
            let c = self.emit.int(i.c() as i64);
            let done = self.emit.runtime_word(self.calls.set_class as usize, &[st, ra, c]);
            self.emit.unless_generic(pc, done);
        } else {
            self.emit.generic(pc);
        }
        self.regs.forget_all();
        let top = self.emit.top_after_call(i.c());
        self.emit.poll(pc + 1, top);
    }
}
