//! Calls of metamethods that are Lua functions, from the code of the instruction that needs them.
//!
//! Such a call is made like that of a CALL instruction, except that its frame is above all
//! registers of the frame, and that the result is stored where the instruction needs it. If the
//! callee yields or fails, the interpreter finds the frame after the instruction, as after calls
//! that it has made itself.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value};
use perilune_bytecode::feedback::{access, operands as seen};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::tier::STORED;
use perilune_runtime::value::Tag;

use super::Translator;
use super::control::Ends;
use crate::analysis::operation::Operand;
use crate::codegen::call::Returned;
use crate::codegen::value::Join;
use crate::entity::{Pc, Reg, RegisterOperands};

/// The blocks where a metamethod returns: `good` if no request is pending in the poll word,
/// otherwise `polled`.
struct Handled {
    good: Block,
    polled: Block,
    bits: Value,
    tag: Value,
}

impl Translator<'_> {
    /// Returns whether the operator at `pc` has called metamethods.
    pub(super) fn has_handlers(&self, pc: Pc) -> bool {
        self.snapshot.cell(pc) & seen::OTHER != 0
    }

    /// Returns whether code of the access at `pc` should call metamethods: it would exit too often
    /// otherwise.
    pub(super) fn calls_metamethods(&self, pc: Pc) -> bool {
        let is_not_table = self.snapshot.cell(pc) & access::NO_TABLE != 0;
        self.slow_exit.is_none() && (is_not_table || self.has_failed(pc))
    }

    /// Returns whether code of the instruction at `pc` has exited too often.
    pub(super) fn has_failed(&self, pc: Pc) -> bool {
        self.snapshot.failed.contains(&pc.as_u32())
    }

    fn operand_home(&mut self, o: Operand) -> (Value, Value) {
        match o {
            Operand::Reg(r) => self.emit.load_register(r, I64),
            Operand::Int(n) => (self.emit.int(n), self.emit.tag(Tag::INTEGER)),
            Operand::Float(f) => (self.emit.int(f.to_bits() as i64), self.emit.tag(Tag::FLOAT)),
        }
    }

    /// Calls a metamethod for the operator at `pc`, with the result in register `dst` and as a
    /// value of type `ty`. Continues if there is none, or it is not a Lua function.
    pub(super) fn operator_handler(
        &mut self,
        pc: Pc,
        (event, dst): (Event, Reg),
        (x, y): (Operand, Operand),
        ty: Type,
        done: Join,
    ) {
        let (x, y) = (self.operand_home(x), self.operand_home(y));
        let (h, none) = self.find_handler(event, x, y);
        self.value_of_handler(pc, h, dst, &[x, y], ty, done);
        self.emit.switch_to(none);
    }

    /// Calls a metamethod for a comparison of registers; continues if there is none.
    pub(super) fn test_handler(
        &mut self,
        pc: Pc,
        event: Event,
        registers: (Reg, Reg),
        wanted: bool,
        ends: &Ends,
    ) {
        let (x, y) =
            (self.emit.load_register(registers.0, I64), self.emit.load_register(registers.1, I64));
        let (h, none) = self.find_handler(event, x, y);
        let r = self.call_handler(pc, h, &[x, y]);
        self.emit.switch_to(r.good);
        let c = self.emit.is_truthy(r.tag);
        self.decide(c, wanted, ends);
        // the frame may be deoptimized here, so the pc has to say what the outcome is
        self.emit.switch_to(r.polled);
        let c = self.emit.is_truthy(r.tag);
        let (here, further) = (self.emit.int(0), self.emit.int(1));
        let (yes, no) = if wanted { (here, further) } else { (further, here) };
        let skip = self.emit.ins().select(c, yes, no);
        self.poll_after_call(Some(skip));
        self.decide(c, wanted, ends);
        self.emit.switch_to(none);
    }

    /// Returns a constant of the function as an operand.
    pub(super) fn constant_operand(&mut self, n: usize) -> (Value, Value) {
        let (bits, tag) = self.emit.constant(n);
        (bits, self.emit.tag(tag))
    }

    /// Calls `__index` for a lookup of `y` if it is a Lua function; otherwise continues.
    pub(super) fn index_handler(
        &mut self,
        pc: Pc,
        dst: Reg,
        object: Reg,
        y: (Value, Value),
        done: Join,
    ) {
        let (x, tag) = self.emit.load_register(object, I64);
        let args = [self.emit.state(), x, tag, y.0, y.1];
        let (h, receiver) = self.emit.runtime_pair(self.calls.index_handler as usize, &args);
        let none = self.emit.cold_block();
        self.emit.guard(h, none);
        self.value_of_handler(pc, h, dst, &[(receiver, tag), y], I64, done);
        self.emit.switch_to(none);
    }

    /// Calls `__newindex` for a store under `y` if it is a Lua function, or stores to the table to
    /// which it leads; otherwise continues.
    pub(super) fn new_index_handler(&mut self, pc: Pc, y: (Value, Value), done: Block) {
        let i = self.instr(pc);
        let x = self.emit.load_register(i.ra(), I64);
        let (bits, tag) = self.stored_home(i);
        let st = self.emit.state();
        let args = [st, x.0, x.1, y.0, y.1, bits, tag];
        let h = self.emit.runtime_word(self.calls.store_by_handler as usize, &args);
        let (none, function) = (self.emit.cold_block(), self.emit.block());
        self.emit.guard(h, none);
        let stored = self.emit.ins().icmp_imm_u(IntCC::Equal, h, STORED as i64);
        self.emit.branch(stored, done, function);
        self.emit.switch_to(function);
        let r = self.call_handler(pc, h, &[x, y, (bits, tag)]);
        self.emit.switch_to(r.good);
        self.emit.jump(done);
        self.emit.switch_to(r.polled);
        self.poll_after_call(None);
        self.emit.jump(done);
        self.emit.switch_to(none);
    }

    /// Finds the metamethod of one of two values. Continues with it, and goes to the block that is
    /// returned if there is none or it is not a Lua function.
    pub(super) fn find_handler(
        &mut self,
        event: Event,
        x: (Value, Value),
        y: (Value, Value),
    ) -> (Value, Block) {
        let event = self.emit.int(event as i64);
        let args = [self.emit.state(), x.0, x.1, y.0, y.1, event];
        let h = self.emit.runtime_word(self.calls.handler as usize, &args);
        let none = self.emit.cold_block();
        self.emit.guard(h, none);
        (h, none)
    }

    /// Calls `__len` for LEN if it is a Lua function; otherwise continues.
    pub(super) fn length_handler(&mut self, pc: Pc, done: Join) {
        let i = self.instr(pc);
        let x = self.emit.load_register(i.rb(), I64);
        let (h, none) = self.find_handler(Event::Len, x, x);
        self.value_of_handler(pc, h, i.ra(), &[x, x], I64, done);
        self.emit.switch_to(none);
    }

    /// Calls `__concat` for a CONCAT of two values if it is a Lua function; otherwise continues.
    pub(super) fn concat_handler(&mut self, pc: Pc, done: Block) {
        let a = self.instr(pc).ra();
        let (x, y) = (self.emit.load_register(a, I64), self.emit.load_register(a + 1, I64));
        let (h, none) = self.find_handler(Event::Concat, x, y);
        // the number of remaining values, as the interpreter stores it during such a call
        let place = self.above();
        let (left, int) = (self.emit.int(2), self.emit.tag(Tag::INTEGER));
        self.emit.store_register(place, left, int);
        let r = self.call_handler_at(place + 1, pc, h, &[x, y]);
        self.emit.switch_to(r.good);
        self.emit.store_register(a, r.bits, r.tag);
        self.emit.jump(done);
        self.emit.switch_to(r.polled);
        self.emit.store_register(a, r.bits, r.tag);
        self.poll_after_call(None);
        self.emit.jump(done);
        self.emit.switch_to(none);
    }

    /// Returns the first slot above the registers. Every stack has spare slots above its frames.
    pub(super) fn above(&self) -> Reg {
        Reg::new(self.proto.max_stack.into())
    }

    /// Calls `h` and puts its result into register `dst`.
    fn value_of_handler(
        &mut self,
        pc: Pc,
        h: Value,
        dst: Reg,
        args: &[(Value, Value)],
        ty: Type,
        done: Join,
    ) {
        let r = self.call_handler(pc, h, args);
        self.emit.switch_to(r.good);
        self.emit.store_register(dst, r.bits, r.tag);
        let bits = if ty == F64 { self.emit.bits_float(r.bits) } else { r.bits };
        self.emit.join(done, bits, r.tag);
        self.emit.switch_to(r.polled);
        self.emit.store_register(dst, r.bits, r.tag);
        self.poll_after_call(None);
        let (bits, tag) = self.emit.load_register(dst, ty);
        self.emit.join(done, bits, tag);
    }

    /// Handles the requests in the poll word after a call.
    fn poll_after_call(&mut self, skip: Option<Value>) {
        let top = self.emit.frame_end();
        self.emit.poll_after_call(skip, top);
    }

    /// Calls the Lua function `h` for the instruction at `pc`.
    fn call_handler(&mut self, pc: Pc, h: Value, args: &[(Value, Value)]) -> Handled {
        self.call_handler_at(self.above(), pc, h, args)
    }

    /// Like [`Translator::call_handler`], with the function in slot `a`.
    fn call_handler_at(&mut self, a: Reg, pc: Pc, h: Value, args: &[(Value, Value)]) -> Handled {
        let function = self.emit.tag(Tag::FUNCTION);
        self.emit.store_register(a, h, function);
        for (n, &(bits, tag)) in args.iter().enumerate() {
            self.emit.store_register(a + Frame::RESERVED + n, bits, tag);
        }
        let base = self.emit.begin_call(a, pc + 1);
        let nargs = self.emit.int(args.len() as i64);
        let results = self.emit.call_slot(&[h, base, nargs]);
        let returned = self.emit.end_call(a, results);
        let polled = self.emit.pass_on_failure(&returned);
        let Returned { good, bits, tag, .. } = returned;
        Handled { good, polled, bits, tag }
    }

    fn stored_home(&mut self, i: Instr) -> (Value, Value) {
        let (bits, tag) = match i.op() {
            Op::SetFieldK | Op::SetTableK | Op::SetIK => self.emit.constant(i.c()),
            _ => return self.emit.load_register(i.rc(), I64),
        };
        (bits, self.emit.tag(tag))
    }
}
