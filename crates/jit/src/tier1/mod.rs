//! Tier 1: each instruction to Cranelift IR.
//!
//! Values of registers are remembered within extended blocks and always written to their home slots
//! at once, so the frame is whole at every call. A cold block that calls the runtime for an
//! instruction finds all in place and leaves the result in place.

mod alloc;
mod arith;
mod calls;
mod control;
mod encoding;
mod fields;
mod iterate;
mod metamethods;
mod regs;
mod tables;
mod verify;

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, Inst, InstBuilder, MemFlagsData, SigRef, Signature,
    SourceLoc, Type, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use perilune_bytecode::flow::jump_target;
use perilune_bytecode::{Constant, Op, Proto};
use perilune_runtime::frame::FrameWord;
use perilune_runtime::instance::Places;
use perilune_runtime::layout::{self, frame};
use perilune_runtime::tier::{RuntimeCalls, status};
use perilune_runtime::value::Tag;

use crate::analysis::flow::Flow;
use crate::analysis::types::{self, Tags, Types, UNKNOWN};
use crate::feedback::snapshot::Snapshot;
use crate::pipeline::input::{Direct, Input};
use crate::pipeline::symbols::Callees;
use crate::testing::fault::Fault;
use regs::{Known, Regs};

/// A translation under way.
pub(crate) struct Translator<'a> {
    b: FunctionBuilder<'a>,
    proto: &'a Proto,
    snapshot: &'a Snapshot,
    calls: &'a RuntimeCalls,
    direct: &'a HashMap<u32, Direct>,
    callees: Callees<'a>,
    id: u32,
    /// Instructions are counted.
    counts: bool,
    /// The code compares what it holds with frame and heap.
    verify_values: bool,
    /// What is to be done wrong, for tests.
    fault: Option<Fault>,
    flow: Flow,
    blocks: Vec<Option<Block>>,
    types: Types,
    /// Tags known before the instruction that is being translated.
    tags: Tags,
    /// Tags that registers are guarded to have during the instruction that is being translated.
    guarded: Vec<(usize, Tag)>,
    /// Variables for registers that hold integers where control flow meets.
    ints: Vec<Option<Variable>>,
    /// And floats.
    floats: Vec<Option<Variable>>,
    /// What is known where a block with one predecessor begins.
    known_at: Vec<Option<Regs>>,
    regs: Regs,
    /// Address of `R[0]`.
    base: Variable,
    /// The closure as it was passed, which is valid as long as nothing was called.
    passed_closure: Value,
    /// No code so far, and none that comes back to here, has called anything.
    nothing_called: bool,
    instance: Value,
    places: Places,
    /// Stores before this place are done already, where the table was made.
    built_until: usize,
    /// It is a loop that is entered, by the interpreter's loop.
    is_loop: bool,
    /// Exits with a status and the base that the runtime stored.
    exit: Block,
    entry_sig: SigRef,
    /// Signatures of the runtime's functions, by kinds of arguments and results.
    sigs: Vec<(Vec<Type>, Vec<Type>, SigRef)>,
}

/// A merge point with a result. What of it is used becomes a parameter of the block.
#[derive(Clone, Copy)]
pub(super) struct Join {
    block: Block,
    bits: Variable,
    tag: Variable,
    is_float: bool,
}

/// Flags of all accesses: aligned, and they do not trap.
const MEM: MemFlagsData = MemFlagsData::trusted();
/// Flags of loads of what never changes while their address can be had: they are done where they
/// are needed, if at all.
const CONSTANT: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

/// The signature of entries.
pub(crate) fn entry_signature() -> Signature {
    let mut sig = Signature::new(CallConv::Tail);
    sig.params.extend([AbiParam::new(I64); 3]);
    sig.returns.extend([AbiParam::new(I64); 4]);
    sig
}

/// The types of values.
fn kinds(func: &Function, args: &[Value]) -> Vec<Type> {
    args.iter().map(|v| func.dfg.value_type(*v)).collect()
}

/// The signature of a function of the runtime.
fn runtime_signature(params: &[Type], returns: &[Type]) -> Signature {
    let mut sig = Signature::new(CallConv::SystemV);
    sig.params.extend(params.iter().map(|&t| AbiParam::new(t)));
    sig.returns.extend(returns.iter().map(|&t| AbiParam::new(t)));
    sig
}

/// Fills `func` with the translation.
pub(crate) fn translate<'a>(
    func: &'a mut Function,
    context: &'a mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    input: &Input<'a>,
    callees: Callees<'a>,
) {
    func.signature = entry_signature();
    let mut b = FunctionBuilder::new(func, context);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let params = b.block_params(start).to_vec();
    let base = b.declare_var(I64);
    b.def_var(base, params[1]);
    let instance = b.ins().load(I64, CONSTANT, params[0], layout::closure::INSTANCE as i32);
    let exit = b.create_block();
    b.append_block_param(exit, I64);
    b.set_cold_block(exit);
    let entry_sig = b.import_signature(entry_signature());
    let entry = input.entry.unwrap_or(0);
    let flow = Flow::new(input.proto, input.snapshot, entry);
    let types = Types::new(input.proto, input.snapshot, &flow, entry);
    let size = Types::size(input.proto);
    let n = input.proto.code.len();
    let mut t = Translator {
        b,
        proto: input.proto,
        snapshot: input.snapshot,
        calls: input.calls,
        direct: input.direct,
        callees,
        id: input.id,
        counts: input.counts,
        verify_values: input.verify_values,
        fault: input.fault,
        blocks: vec![None; n],
        known_at: vec![None; n],
        regs: Regs::new(size, &flow.captured, input.fault == Some(Fault::StaleRegisters)),
        tags: types.at(entry).clone(),
        types,
        guarded: Vec::new(),
        ints: vec![None; size],
        floats: vec![None; size],
        flow,
        base,
        passed_closure: params[0],
        nothing_called: true,
        instance,
        places: Places::in_instances_of(input.proto),
        built_until: 0,
        is_loop: input.entry.is_some(),
        exit,
        entry_sig,
        sigs: Vec::new(),
    };
    if input.entry.is_none() {
        t.prologue(params[2]);
    }
    if input.entry.is_some() {
        t.check_entry(entry);
    }
    t.fall(entry);
    t.body();
    t.exit_block();
    t.b.seal_all_blocks();
    t.b.finalize(isa.frontend_config());
}

impl Translator<'_> {
    /// Emits the entry of a loop: the frame goes back to the interpreter at once unless its
    /// registers have the tags that they had when the loop was found to be hot.
    fn check_entry(&mut self, entry: usize) {
        let tags = self.types.at(entry).clone();
        let wrong = self.cold_block();
        let base = self.load_base();
        for (r, &tag) in tags.iter().enumerate().filter(|(_, tag)| **tag != UNKNOWN) {
            let t = self.b.ins().uload8(I64, MEM, base, frame::tag(r));
            let same = self.b.ins().icmp_imm_u(IntCC::Equal, t, i64::from(tag));
            let on = self.b.create_block();
            self.b.ins().brif(same, on, &[], wrong, &[]);
            self.b.switch_to_block(on);
        }
        let entered = self.b.create_block();
        self.b.ins().jump(entered, &[]);
        self.b.switch_to_block(wrong);
        // counted, so that the loop is compiled again for what it meets
        self.deoptimize_before(entry);
        self.b.switch_to_block(entered);
    }

    /// All instructions that can be reached, in order.
    fn body(&mut self) {
        // whether control can reach the end of the current block
        let mut open = false;
        let mut pc = 0;
        while pc < self.proto.code.len() {
            if !self.flow.reached[pc] {
                pc += 1;
                continue;
            }
            if self.flow.leader[pc] {
                if open {
                    self.fall(pc);
                }
                self.nothing_called &= !self.flow.is_loop[pc];
                let block = self.block(pc);
                self.b.switch_to_block(block);
                self.tags = self.types.at(pc).clone();
                let known = self.known_at[pc].take().filter(|_| self.flow.preds[pc] == 1);
                match known {
                    Some(known) => self.regs = known,
                    None => self.take_carried(pc),
                }
            }
            self.b.set_srcloc(SourceLoc::new(pc as u32));
            self.verify_registers(pc);
            open = self.instruction(pc);
            if open {
                let before = self.tags.clone();
                types::step(self.proto, self.snapshot, &self.flow, pc, false, &mut self.tags);
                if self.fault == Some(Fault::StaleTags) {
                    for (tag, &before) in self.tags.iter_mut().zip(&before) {
                        *tag = if *tag == UNKNOWN { before } else { *tag };
                    }
                }
            }
            pc += match self.proto.code[pc].op() {
                Op::LoadKX | Op::SetList => 2,
                _ => 1,
            };
        }
    }

    /// Translates one instruction; returns whether control continues after it.
    fn instruction(&mut self, pc: usize) -> bool {
        if self.flow.cold[pc] {
            self.deoptimize_before(pc);
            return false;
        }
        self.speculate(pc);
        let i = self.proto.code[pc];
        match i.op() {
            Op::Move => {
                let (bits, tag) = self.any(i.b());
                self.set(i.a(), bits, tag);
            }
            Op::LoadI => {
                let v = self.int(i.sbx());
                self.set(i.a(), v, Known::Tag(Tag::INTEGER));
            }
            Op::LoadF => {
                let v = self.b.ins().f64const(i.sbx() as f64);
                self.set_float(i.a(), v);
            }
            Op::LoadK => self.load_constant(i.a(), i.bx()),
            Op::LoadKX => {
                let n = self.proto.code[pc + 1].ax_value();
                self.load_constant(i.a(), n);
            }
            Op::LoadFalse => {
                let zero = self.int(0);
                self.set(i.a(), zero, Known::Tag(Tag::FALSE));
            }
            Op::LFalseSkip => {
                let zero = self.int(0);
                self.set(i.a(), zero, Known::Tag(Tag::FALSE));
                self.go(pc, pc + 2);
                return false;
            }
            Op::LoadTrue => {
                let zero = self.int(0);
                self.set(i.a(), zero, Known::Tag(Tag::TRUE));
            }
            Op::LoadNil => {
                let zero = self.int(0);
                for r in i.a()..=i.a() + i.b() {
                    self.set(r, zero, Known::Tag(Tag::NIL));
                }
            }
            Op::GetUpval | Op::SetUpval => self.upvalue_access(i),
            Op::GetTabUp => self.get_global(pc),
            Op::SetTabUp | Op::SetTabUpK => self.set_global(pc),
            Op::GetTable | Op::GetI => self.get_table(pc),
            Op::GetField | Op::SelfK => self.get_field(pc),
            Op::SetTable | Op::SetTableK | Op::SetI | Op::SetIK => self.set_table(pc),
            Op::SetField | Op::SetFieldK if pc < self.built_until => self.verify_constructed(pc),
            Op::SetField | Op::SetFieldK => self.set_field(pc),
            Op::NewTable => self.new_table(pc),
            Op::SelfR => {
                self.generic(pc);
                self.regs.forget(i.a());
                self.regs.forget(i.a() + 2);
            }
            Op::SetList => self.set_list(pc),
            Op::AddI
            | Op::SubI
            | Op::AddK
            | Op::SubK
            | Op::MulK
            | Op::ModK
            | Op::PowK
            | Op::DivK
            | Op::IDivK
            | Op::BAndK
            | Op::BOrK
            | Op::BXorK
            | Op::KAdd
            | Op::KSub
            | Op::KMul
            | Op::KDiv
            | Op::ShrI
            | Op::ShlI
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Mod
            | Op::Pow
            | Op::Div
            | Op::IDiv
            | Op::BAnd
            | Op::BOr
            | Op::BXor
            | Op::Shl
            | Op::Shr
            | Op::Unm
            | Op::BNot => self.arithmetic(pc),
            Op::Not => {
                let tag = self.tag(i.b());
                let zero = self.int(0);
                match tag {
                    Known::Tag(k) => {
                        let not = if k.0 < Tag::TRUE.0 { Tag::TRUE } else { Tag::FALSE };
                        self.set(i.a(), zero, Known::Tag(not));
                    }
                    Known::Value(t) => {
                        let falsy =
                            self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, t, Tag::TRUE.0 as i64);
                        let (yes, no) =
                            (self.int(Tag::TRUE.0.into()), self.int(Tag::FALSE.0.into()));
                        let tag = self.b.ins().select(falsy, yes, no);
                        self.set(i.a(), zero, Known::Value(tag));
                    }
                }
            }
            Op::Len => self.length(pc),
            Op::Concat => {
                let (st, first) = (self.state(), self.address(i.a()));
                let n = self.int(i.b() as i64);
                let inst = self.runtime(self.calls.concat as usize, &[st, first, n], &[I64]);
                let done = self.b.inst_results(inst)[0];
                self.unless_generic(pc, done);
                for r in i.a()..i.a() + i.b() {
                    self.regs.forget(r);
                }
                let top = self.frame_end();
                self.poll(pc + 1, top);
            }
            Op::Close => self.close(pc),
            Op::Tbc => {
                self.generic(pc);
            }
            Op::Jmp => {
                self.go(pc, jump_target(&self.proto.code, pc));
                return false;
            }
            Op::Eq | Op::EqK | Op::EqI => return self.equality(pc),
            Op::Lt | Op::Le | Op::LtI | Op::LeI | Op::GtI | Op::GeI => return self.order(pc),
            Op::Test | Op::TestSet => return self.test(pc),
            Op::Call => self.call(pc),
            Op::CallMeta => self.call_meta(pc),
            Op::TailCall => self.tail_call(pc),
            Op::Return | Op::Return0 | Op::Return1 => {
                self.return_results(pc);
                return false;
            }
            Op::ForPrep => return self.for_prep(pc),
            Op::ForLoop => return self.for_loop(pc),
            Op::TForPrep => {
                self.for_each_prep(pc);
                self.go(pc, pc + 1 + i.bx());
                return false;
            }
            Op::TForCall => self.for_call(pc),
            Op::TForLoop => return self.for_each(pc),
            Op::Closure => self.make_closure(pc),
            Op::VarArg => self.var_arg(pc),
            Op::VarArgPrep | Op::ExtraArg => {}
        }
        true
    }

    /// The block of the instruction at `pc`.
    fn block(&mut self, pc: usize) -> Block {
        match self.blocks[pc] {
            Some(b) => b,
            None => *self.blocks[pc].insert(self.b.create_block()),
        }
    }

    /// A block that continues the current one: as cold as that.
    fn next_block(&mut self) -> Block {
        let is_cold = self.b.current_block().is_some_and(|b| self.b.func.layout.is_cold(b));
        if is_cold { self.cold_block() } else { self.b.create_block() }
    }

    fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn int(&mut self, v: i64) -> Value {
        self.b.ins().iconst(I64, v)
    }

    fn state(&mut self) -> Value {
        self.b.ins().get_pinned_reg(I64)
    }

    fn load_base(&mut self) -> Value {
        self.b.use_var(self.base)
    }

    /// The base has moved, or may have: something was called.
    fn set_base(&mut self, base: Value) {
        self.b.def_var(self.base, base);
        self.nothing_called = false;
    }

    /// The closure. It is read again from the frame after calls, so that no register of the machine
    /// is saved for it.
    fn closure(&mut self) -> Value {
        if self.nothing_called {
            return self.passed_closure;
        }
        let base = self.load_base();
        self.b.ins().load(I64, CONSTANT, base, frame::CALLEE)
    }

    /// Address of register `r`.
    fn address(&mut self, r: usize) -> Value {
        let base = self.load_base();
        self.b.ins().iadd_imm_s(base, i64::from(frame::slot(r)))
    }

    fn frame_end(&mut self) -> Value {
        self.address(self.proto.max_stack.into())
    }

    /// The frame word that says that this code runs the frame and continues at `pc`.
    fn frame_word(&mut self, pc: usize) -> Value {
        self.int(FrameWord::new(self.id, pc as u32).0 as i64)
    }

    /// Stores frame word and base, before a call that may look at the frame.
    fn save_frame(&mut self, pc: usize) {
        let word = self.frame_word(pc);
        let base = self.load_base();
        self.b.ins().store(MEM, word, base, frame::WORD);
        let st = self.state();
        self.b.ins().store(MEM, base, st, layout::state::BASE as i32);
    }

    /// Calls the function of the runtime at `address`, which the module imports by name.
    fn runtime(&mut self, address: usize, args: &[Value], results: &[Type]) -> Inst {
        let signature = |func: &Function| runtime_signature(&kinds(func, args), results);
        let func = self.callees.runtime(address, signature, self.b.func);
        self.b.ins().call(func, args)
    }

    /// As [`Translator::runtime`], of a function that answers with a value: payload and tag.
    fn runtime_pair(&mut self, address: usize, args: &[Value]) -> (Value, Value) {
        let inst = self.runtime(address, args, &[I64, I64]);
        let results = self.b.inst_results(inst);
        (results[0], results[1])
    }

    /// Calls a function of the runtime whose address is in a register.
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

    /// Calls a function of the runtime that returns a status, with the frame stored at `pc`; exits
    /// from the code unless the status is good.
    fn runtime_step(&mut self, address: usize, pc: usize, args: &[Value]) -> Value {
        self.save_frame(pc);
        self.runtime_saved(address, args)
    }

    /// As [`Translator::runtime_step`], of a frame that is stored already.
    fn runtime_saved(&mut self, address: usize, args: &[Value]) -> Value {
        let inst = self.runtime(address, args, &[I64]);
        let status = self.b.inst_results(inst)[0];
        self.check(status);
        let st = self.state();
        let base = self.b.ins().load(I64, MEM, st, layout::state::BASE as i32);
        self.set_base(base);
        status
    }

    /// Exits from the code unless the status is good.
    fn check(&mut self, status: Value) {
        let low = self.b.ins().ireduce(I32, status);
        let on = self.next_block();
        self.b.ins().brif(low, self.exit, &[BlockArg::from(status)], on, &[]);
        self.b.switch_to_block(on);
    }

    fn exit_block(&mut self) {
        self.b.switch_to_block(self.exit);
        let status = self.b.block_params(self.exit)[0];
        let st = self.state();
        let base = self.b.ins().load(I64, MEM, st, layout::state::BASE as i32);
        let zero = self.int(0);
        if self.is_loop {
            // the loop that entered this code takes the frame back
            self.b.ins().return_(&[status, zero, zero, base]);
            return;
        }
        let (resume, out) = (self.b.create_block(), self.b.create_block());
        let left = self.b.ins().band_imm_u(status, status::RESUME as i64);
        self.b.ins().brif(left, resume, &[], out, &[]);
        self.b.switch_to_block(out);
        self.b.ins().return_(&[status, zero, zero, base]);
        // no return address in this code may remain: it does not pin the code any more
        self.b.switch_to_block(resume);
        let entry = self.int(self.calls.resume as usize as i64);
        let closure = self.b.ins().load(I64, MEM, base, frame::CALLEE);
        let args = [closure, base, zero];
        self.b.ins().return_call_indirect(self.entry_sig, entry, &args);
    }

    /// Runs the instruction at `pc` in the runtime.
    fn generic(&mut self, pc: usize) {
        let st = self.state();
        self.runtime_step(self.calls.one as usize, pc + 1, &[st]);
    }

    /// Continues in a new block if `answer` is not 0, and else there after running the instruction
    /// at `pc` in the runtime.
    fn unless_generic(&mut self, pc: usize, answer: Value) {
        let (slow, on) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(answer, on, &[], slow, &[]);
        self.end_slowly(slow, pc, on);
    }

    /// In a cold block: runs the instruction at `pc` in the runtime and goes to `to` with the
    /// result in register `r` as a value of type `ty`, and its tag.
    fn generic_result(&mut self, pc: usize, r: usize, ty: Type, to: Join) {
        self.generic(pc);
        let (bits, tag) = self.load_home(r, ty);
        self.join(to, bits, tag);
    }

    fn load_home(&mut self, r: usize, ty: Type) -> (Value, Value) {
        let base = self.load_base();
        let bits = self.b.ins().load(ty, MEM, base, frame::slot(r));
        let tag = self.b.ins().uload8(I64, MEM, base, frame::tag(r));
        (bits, tag)
    }

    /// A block that gets a value and its tag.
    fn pair_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.append_block_param(block, I64);
        self.b.append_block_param(block, I64);
        block
    }

    /// Creates a merge point for a result.
    fn join_block(&mut self, ty: Type) -> Join {
        let bits = self.b.declare_var(ty);
        Join {
            block: self.b.create_block(),
            bits,
            tag: self.b.declare_var(I64),
            is_float: ty == F64,
        }
    }

    /// Ends the block: jumps to a merge point with a result.
    fn join(&mut self, to: Join, bits: Value, tag: Value) {
        self.b.def_var(to.bits, bits);
        self.b.def_var(to.tag, tag);
        self.b.ins().jump(to.block, &[]);
    }

    /// Continues at a merge point, whose result is in register `r` already.
    fn take_value(&mut self, join: Join, r: usize) {
        self.b.switch_to_block(join.block);
        self.regs.note_join(r, join);
    }

    /// Does what the poll word asks for; the frame continues at `pc`.
    fn poll(&mut self, pc: usize, top: Value) {
        let st = self.state();
        let word = self.b.ins().load(I32, MEM, st, layout::state::POLL as i32);
        let (cold, on) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(word, cold, &[], on, &[]);
        self.b.switch_to_block(cold);
        let st = self.state();
        self.runtime_step(self.calls.poll as usize, pc, &[st, top]);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }

    /// Counts the instructions of a loop that goes round, from `pc` to `target`, where the script
    /// stops if so many are not left.
    fn charge(&mut self, pc: usize, target: usize) {
        let (left, enough) = self.fuel_after(pc - target + 1);
        let (out, on) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(enough, on, &[], out, &[]);
        self.b.switch_to_block(out);
        let (st, top) = (self.state(), self.frame_end());
        self.runtime_step(self.calls.out_of_fuel as usize, target, &[st, top]);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        self.set_fuel(left);
    }

    /// Returns the fuel that remains after `cost` instructions, and whether there is so much.
    fn fuel_after(&mut self, cost: usize) -> (Value, Value) {
        let st = self.state();
        let fuel = self.b.ins().load(I64, MEM, st, layout::state::FUEL as i32);
        let cost = self.int(cost as i64);
        let enough = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, fuel, cost);
        (self.b.ins().isub(fuel, cost), enough)
    }

    fn set_fuel(&mut self, left: Value) {
        let st = self.state();
        self.b.ins().store(MEM, left, st, layout::state::FUEL as i32);
    }

    /// Ends the block: goes from the instruction at `pc` to `target`, by way of a poll if that is
    /// backwards.
    fn go(&mut self, pc: usize, target: usize) {
        if target <= pc {
            if self.counts {
                self.charge(pc, target);
            }
            let top = self.frame_end();
            self.poll(target, top);
        } else if self.flow.preds[target] == 1 {
            self.known_at[target] = Some(self.regs.clone());
            let block = self.block(target);
            self.b.ins().jump(block, &[]);
            return;
        }
        self.fall(target);
    }

    /// Ends the block: goes to `target`, where control flow meets.
    fn fall(&mut self, target: usize) {
        for (r, tag) in self.carried(target) {
            let (variable, v) = match tag {
                Tag::FLOAT => (self.float_variable(r), self.peek_float(r)),
                _ => (self.int_variable(r), self.peek_bits(r)),
            };
            self.b.def_var(variable, v);
        }
        let block = self.block(target);
        self.b.ins().jump(block, &[]);
    }

    /// Registers whose values come along in machine registers to where control flow meets: the
    /// numbers and tables among those that are still needed.
    fn carried(&self, target: usize) -> Vec<(usize, Tag)> {
        let tags = self.types.at(target);
        (0..tags.len())
            .filter(|&r| self.types.is_live(target, r))
            .map(|r| (r, Tag(tags[r])))
            .filter(|(_, tag)| matches!(*tag, Tag::INTEGER | Tag::FLOAT | Tag::TABLE))
            .collect()
    }

    /// Begins a block where control flow meets.
    fn take_carried(&mut self, pc: usize) {
        self.regs.begin();
        for (r, tag) in self.carried(pc) {
            if tag == Tag::FLOAT {
                let variable = self.float_variable(r);
                let v = self.b.use_var(variable);
                self.regs.note_float(r, v, Known::Tag(tag));
            } else {
                let variable = self.int_variable(r);
                let v = self.b.use_var(variable);
                self.regs.note(r, v, Known::Tag(tag));
            }
        }
    }

    fn int_variable(&mut self, r: usize) -> Variable {
        match self.ints[r] {
            Some(v) => v,
            None => *self.ints[r].insert(self.b.declare_var(I64)),
        }
    }

    fn float_variable(&mut self, r: usize) -> Variable {
        match self.floats[r] {
            Some(v) => v,
            None => *self.floats[r].insert(self.b.declare_var(F64)),
        }
    }

    /// Emits the guards of what the instruction at `pc` speculates on. Their tags are known while
    /// it is translated, and after it ([`types::step`]).
    fn speculate(&mut self, pc: usize) {
        self.guarded.clear();
        let guards = types::facts(self.snapshot, pc, self.proto.code[pc]).guards;
        let mut other = None;
        for (r, tag) in guards {
            let known = self.tag(r);
            if !matches!(known, Known::Tag(known) if known == tag) {
                let other = *other.get_or_insert_with(|| self.cold_block());
                if !self.require(&[known], tag, other) {
                    self.b.ins().jump(other, &[]);
                    // what follows is not reached
                    let rest = self.b.create_block();
                    self.b.switch_to_block(rest);
                }
            }
            self.guarded.push((r, tag));
        }
        if let Some(other) = other {
            self.deoptimize_at(other, pc);
        }
    }

    /// Continues after guards of the instruction at `pc` whose failure leads to `failed`, where
    /// the frame is deoptimized.
    fn deoptimize_at(&mut self, failed: Block, pc: usize) {
        let on = self.b.create_block();
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(failed);
        self.deoptimize_after(pc);
        self.b.switch_to_block(on);
    }

    /// Continues where `condition` holds; returns the block where it does not.
    fn case(&mut self, condition: Value) -> Block {
        let (holds, other) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, holds, &[], other, &[]);
        self.b.switch_to_block(holds);
        other
    }

    /// Ends an instruction without a result: what went to `slow` runs it in the runtime, and
    /// control continues at `done`.
    fn end_slowly(&mut self, slow: Block, pc: usize, done: Block) {
        self.b.switch_to_block(slow);
        self.generic(pc);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Ends the block: deoptimizes the frame before the instruction at `pc`, which was never
    /// executed. The interpreter continues with it.
    fn deoptimize_before(&mut self, pc: usize) {
        let st = self.state();
        self.save_frame(pc);
        let inst = self.runtime(self.calls.deoptimize_before as usize, &[st], &[I64]);
        let status = self.b.inst_results(inst)[0];
        self.b.ins().jump(self.exit, &[BlockArg::from(status)]);
    }

    /// Ends a cold block: runs the instruction at `pc`, whose operands are not those that the code
    /// was made for, in the runtime, and deoptimizes the frame after it.
    fn deoptimize_after(&mut self, pc: usize) {
        let st = self.state();
        self.save_frame(pc + 1);
        let inst = self.runtime(self.calls.deoptimize_after as usize, &[st], &[I64]);
        let status = self.b.inst_results(inst)[0];
        self.b.ins().jump(self.exit, &[BlockArg::from(status)]);
    }

    fn load_constant(&mut self, r: usize, n: usize) {
        match &self.proto.constants[n] {
            Constant::Float(f) => {
                let v = self.b.ins().f64const(*f);
                self.set_float(r, v);
            }
            _ => {
                let (bits, tag) = self.constant(n);
                self.set(r, bits, Known::Tag(tag));
            }
        }
    }

    /// A constant as payload and tag.
    fn constant(&mut self, n: usize) -> (Value, Tag) {
        match &self.proto.constants[n] {
            Constant::Nil => (self.int(0), Tag::NIL),
            Constant::Bool(b) => (self.int(0), if *b { Tag::TRUE } else { Tag::FALSE }),
            Constant::Integer(i) => (self.int(*i), Tag::INTEGER),
            Constant::Float(f) => (self.int(f.to_bits() as i64), Tag::FLOAT),
            Constant::Str(_) => {
                let at = (self.places.constants + n * size_of::<perilune_runtime::value::Value>())
                    as i32;
                (self.b.ins().load(I64, CONSTANT, self.instance, at), Tag::STRING)
            }
        }
    }
}
