//! Metamethods that are Lua functions, called by machine code for the instruction that needs them.
//!
//! Such a call is one like that of CALL, but for its place above the registers of the frame, and
//! for its result, which goes where the instruction wants it. Should the callee yield or fail, the
//! interpreter finds the frame after the instruction, as it does after its own calls.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Type, Value};
use perilune_runtime::frame::{Frame, Link};
use perilune_runtime::layout::{self, frame};
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::arith::Operand;
use super::control::Ends;
use super::{Join, MEM, Translator};
use crate::analysis::types::seen;

/// A callee that has returned, well, to a block without anything to poll (`good`) or with something
/// (`polled`).
struct Returned {
    good: Block,
    polled: Block,
    bits: Value,
    tag: Value,
}

impl Translator<'_> {
    /// Were metamethods called by the operator at `pc`?
    pub(super) fn has_handlers(&self, pc: usize) -> bool {
        self.snapshot.cells[pc] & seen::OTHER != 0
    }

    fn operand_home(&mut self, o: Operand) -> (Value, Value) {
        match o {
            Operand::Reg(r) => self.load_home(r, I64),
            Operand::Int(n) => (self.int(n), self.int(Tag::INTEGER.0.into())),
            Operand::Float(f) => (self.int(f.to_bits() as i64), self.int(Tag::FLOAT.0.into())),
        }
    }

    /// The operator at `pc` by a metamethod of its operands, with its result in register `dst` and
    /// as a value of type `ty`; continues where there is none, or one that is no Lua function.
    pub(super) fn operator_handler(
        &mut self,
        pc: usize,
        (event, dst): (Event, usize),
        (x, y): (Operand, Operand),
        ty: Type,
        done: Join,
    ) {
        let (x, y) = (self.operand_home(x), self.operand_home(y));
        let (h, none) = self.find_handler(event, x, y);
        self.value_of_handler(pc, h, dst, &[x, y], ty, done);
        self.b.switch_to_block(none);
    }

    /// A comparison of registers by a metamethod; continues where there is none.
    pub(super) fn test_handler(
        &mut self,
        pc: usize,
        event: Event,
        registers: (usize, usize),
        wanted: bool,
        ends: &Ends,
    ) {
        let (x, y) = (self.load_home(registers.0, I64), self.load_home(registers.1, I64));
        let (h, none) = self.find_handler(event, x, y);
        let r = self.call_handler(pc, h, &[x, y]);
        let truth = |t: &mut Self| {
            let cc = IntCC::UnsignedGreaterThanOrEqual;
            t.b.ins().icmp_imm_u(cc, r.tag, Tag::TRUE.0 as i64)
        };
        self.b.switch_to_block(r.good);
        let c = truth(self);
        self.decide(c, wanted, ends);
        // the frame may be deoptimized here: the pc says what the outcome is
        self.b.switch_to_block(r.polled);
        let c = truth(self);
        let (jump, skip) = (self.frame_word(pc + 1), self.frame_word(pc + 2));
        let (yes, no) = if wanted { (jump, skip) } else { (skip, jump) };
        let word = self.b.ins().select(c, yes, no);
        let base = self.load_base();
        self.b.ins().store(MEM, word, base, frame::WORD);
        self.poll_after_call();
        self.decide(c, wanted, ends);
        self.b.switch_to_block(none);
    }

    /// GETFIELD or SELF by an `__index` that is a Lua function; continues where it is not.
    pub(super) fn index_handler(
        &mut self,
        pc: usize,
        dst: usize,
        object: usize,
        key: usize,
        done: Join,
    ) {
        let x = self.load_home(object, I64);
        let (bits, tag) = self.constant(key);
        let y = (bits, self.int(tag.0.into()));
        let (h, none) = self.ask_handler(self.calls.index_handler as usize, &[x, y], None);
        self.value_of_handler(pc, h, dst, &[x, y], I64, done);
        self.b.switch_to_block(none);
    }

    /// SETFIELD by a `__newindex` that is a Lua function; continues where it is not.
    pub(super) fn new_index_handler(&mut self, pc: usize, done: Block) {
        let i = self.proto.code[pc];
        let x = self.load_home(i.a(), I64);
        let (bits, tag) = self.constant(i.b());
        let y = (bits, self.int(tag.0.into()));
        let (bits, tag) = self.stored_home(i);
        let (h, none) = self.ask_handler(self.calls.new_index_handler as usize, &[x, y], None);
        let r = self.call_handler(pc, h, &[x, y, (bits, tag)]);
        self.b.switch_to_block(r.good);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(r.polled);
        self.poll_after_call();
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(none);
    }

    fn find_handler(
        &mut self,
        event: Event,
        x: (Value, Value),
        y: (Value, Value),
    ) -> (Value, Block) {
        let event = self.int(event as i64);
        self.ask_handler(self.calls.handler as usize, &[x, y], Some(event))
    }

    /// Asks the runtime for a metamethod; returns it, and the block that is gone to if there is
    /// none.
    fn ask_handler(
        &mut self,
        function: usize,
        operands: &[(Value, Value); 2],
        event: Option<Value>,
    ) -> (Value, Block) {
        let st = self.state();
        let mut args = vec![st];
        args.extend(operands.iter().flat_map(|&(bits, tag)| [bits, tag]));
        args.extend(event);
        let inst = self.runtime(function, &args, &[I64]);
        let h = self.b.inst_results(inst)[0];
        let none = self.cold_block();
        self.guard(h, none);
        (h, none)
    }

    /// Calls `h` and puts its result into register `dst`.
    fn value_of_handler(
        &mut self,
        pc: usize,
        h: Value,
        dst: usize,
        args: &[(Value, Value)],
        ty: Type,
        done: Join,
    ) {
        let r = self.call_handler(pc, h, args);
        self.b.switch_to_block(r.good);
        self.put_home(dst, r.bits, r.tag);
        let bits =
            if ty == F64 { self.b.ins().bitcast(F64, MemFlagsData::new(), r.bits) } else { r.bits };
        self.join(done, bits, r.tag);
        self.b.switch_to_block(r.polled);
        self.put_home(dst, r.bits, r.tag);
        self.poll_after_call();
        let (bits, tag) = self.load_home(dst, ty);
        self.join(done, bits, tag);
    }

    fn put_home(&mut self, r: usize, bits: Value, tag: Value) {
        let base = self.load_base();
        self.b.ins().store(MEM, bits, base, frame::slot(r));
        self.b.ins().istore8(MEM, tag, base, frame::tag(r));
    }

    /// Does what the poll word asks for after a call, whose frame word is still stored.
    fn poll_after_call(&mut self) {
        let top = self.frame_end();
        let (st, base) = (self.state(), self.load_base());
        self.b.ins().store(MEM, base, st, layout::state::BASE as i32);
        self.runtime_saved(self.calls.poll as usize, &[st, top]);
    }

    /// Calls the Lua function `h` for the instruction at `pc`.
    fn call_handler(&mut self, pc: usize, h: Value, args: &[(Value, Value)]) -> Returned {
        // every stack has slots to spare above its frames
        let a = usize::from(self.proto.max_stack);
        let function = self.int(Tag::FUNCTION.0.into());
        self.put_home(a, h, function);
        for (n, &(bits, tag)) in args.iter().enumerate() {
            self.put_home(a + Frame::RESERVED + n, bits, tag);
        }
        let base = self.load_base();
        let word = self.frame_word(pc + 1);
        self.b.ins().store(MEM, word, base, frame::WORD);
        let link = self.int(Link::new(0, 0, a + Frame::RESERVED).0 as i64);
        self.b.ins().store(MEM, link, base, frame::slot(a + Frame::RESERVED) + frame::LINK);
        let new_base = self.address(a + Frame::RESERVED);
        let nargs = self.int(args.len() as i64);
        let entry = self.entry_of(h);
        let inst = self.b.ins().call_indirect(self.entry_sig, entry, &[h, new_base, nargs]);
        let [status, bits, tag, base] = std::array::from_fn(|n| self.b.inst_results(inst)[n]);
        let base = self.b.ins().iadd_imm_s(base, -i64::from(frame::slot(a + Frame::RESERVED)));
        self.set_base(base);
        let low = self.b.ins().ireduce(I32, status);
        let st = self.state();
        let word = self.b.ins().load(I32, MEM, st, layout::state::POLL as i32);
        let any = self.b.ins().bor(low, word);
        let (cold, good) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(any, cold, &[], good, &[]);
        self.b.switch_to_block(cold);
        let (failed, polled) = (self.cold_block(), self.cold_block());
        self.b.ins().brif(low, failed, &[], polled, &[]);
        self.b.switch_to_block(failed);
        self.pass_on(status);
        Returned { good, polled, bits, tag }
    }

    fn stored_home(&mut self, i: perilune_bytecode::Instr) -> (Value, Value) {
        let (bits, tag) = match i.op() {
            perilune_bytecode::Op::SetFieldK => self.constant(i.c()),
            _ => return self.load_home(i.c(), I64),
        };
        (bits, self.int(tag.0.into()))
    }
}
