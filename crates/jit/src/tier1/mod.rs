//! Tier 1: each instruction to Cranelift IR.
//!
//! The translation decides, with feedback and with what it knows of registers, which code an
//! instruction gets, and lets [`Emitter`] emit it. Values of registers are remembered within
//! extended blocks and always written to their home slots at once, so the frame is whole at every
//! call. A cold block that calls the runtime for an instruction finds all in place and leaves the
//! result in place.

mod alloc;
mod arith;
mod blocks;
mod builtins;
mod calls;
mod control;
mod fields;
pub(crate) mod generic;
mod iterate;
mod metamethods;
mod regs;
mod speculate;
mod tables;
mod verify;

use std::collections::HashMap;
use std::ops::Range;

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use cranelift_codegen::ir::{Block, Function, InstBuilder, Value};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilderContext, Variable};
use perilune_bytecode::{Constant, Instr, Op, Proto};
use perilune_runtime::tier::RuntimeCalls;
use perilune_runtime::value::Tag;

use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::analysis::tags::{self, TagFlow, Tags};
use crate::codegen::value::Known;
use crate::codegen::{Body, Emitter};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::exits::map::ExitMap;
use crate::exits::state::{FrameState, Point};
use crate::feedback::snapshot::Snapshot;
use crate::pipeline::input::{Direct, Input};
use crate::pipeline::symbols::Callees;
use crate::testing::fault::Fault;
use regs::Regs;

/// A translation under way.
pub(crate) struct Translator<'a> {
    emit: Emitter<'a>,
    proto: &'a Proto,
    snapshot: &'a Snapshot,
    calls: &'a RuntimeCalls,
    direct: &'a HashMap<u32, Direct>,
    /// What is to be done wrong, for tests.
    fault: Option<Fault>,
    flow: Flow,
    live: Live,
    tag_flow: TagFlow,
    blocks: SecondaryMap<Pc, Option<Block>>,
    /// Tags known before the instruction that is being translated.
    tags: Tags,
    /// Tags that registers are guarded to have during the instruction that is being translated.
    guarded: Vec<(Reg, Tag)>,
    /// Variables for registers that hold integers where control flow meets.
    ints: SecondaryMap<Reg, Option<Variable>>,
    /// And floats.
    floats: SecondaryMap<Reg, Option<Variable>>,
    /// What is known where a block with one predecessor begins.
    known_at: SecondaryMap<Pc, Option<Regs>>,
    regs: Regs,
    /// Stores that are done already, where the table was made.
    built: Range<Pc>,
    /// The number of arguments that the code is passed.
    nargs: Value,
    /// The code is entered at a loop.
    is_loop: bool,
    /// The ends of a single instruction, where one is translated for the optimizing compiler.
    ways: Option<Vec<generic::Way>>,
    /// Where an instruction goes for which its code has no answer, in place of the runtime.
    slow_exit: Option<Block>,
}

/// Fills `func` with the translation; returns its exits.
pub(crate) fn translate<'a>(
    func: &'a mut Function,
    context: &'a mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    input: &Input<'a>,
    callees: Callees<'a>,
) -> ExitMap {
    let mut t = Translator::begin(func, context, input, callees);
    let entry = Pc::new(input.entry.unwrap_or(0));
    t.enter(entry);
    t.fall(entry);
    t.body();
    t.emit.finish(isa)
}

impl<'a> Translator<'a> {
    /// Begins a translation in `func`.
    fn begin(
        func: &'a mut Function,
        context: &'a mut FunctionBuilderContext,
        input: &Input<'a>,
        callees: Callees<'a>,
    ) -> Translator<'a> {
        let body = Body {
            proto: input.proto,
            calls: input.calls,
            id: input.id,
            is_loop: input.entry.is_some(),
            counts: input.counts,
            verify_values: input.verify_values,
            fault: input.fault,
        };
        let (emit, nargs) = Emitter::begin(func, context, body, callees);
        let entry = Pc::new(input.entry.unwrap_or(0));
        let flow = Flow::new(input.proto, input.snapshot, entry);
        let live = Live::new(input.proto, &flow);
        let tag_flow = TagFlow::new(input.proto, input.snapshot, &flow, &live, entry);
        let tags = tag_flow.at(entry).clone();
        Translator {
            emit,
            proto: input.proto,
            snapshot: input.snapshot,
            calls: input.calls,
            direct: input.direct,
            fault: input.fault,
            regs: Regs::new(&tags, &flow, input.fault == Some(Fault::StaleRegisters)),
            live,
            tag_flow,
            blocks: SecondaryMap::new(),
            known_at: SecondaryMap::new(),
            tags,
            guarded: Vec::new(),
            ints: SecondaryMap::new(),
            floats: SecondaryMap::new(),
            flow,
            built: Pc::new(0)..Pc::new(0),
            nargs,
            is_loop: input.entry.is_some(),
            ways: None,
            slow_exit: None,
        }
    }
}

impl Translator<'_> {
    /// Emits what happens before the first instruction, which is at `entry`.
    fn enter(&mut self, entry: Pc) {
        if self.is_loop {
            self.check_entry(entry);
        } else {
            self.emit.prologue(self.nargs);
        }
    }

    /// Translates all instructions that can be reached, in order.
    fn body(&mut self) {
        // whether control can reach the end of the current block
        let mut open = false;
        for pc in Pc::all(self.proto) {
            // words that belong to the instruction before are not
            if !self.flow.reached[pc] {
                continue;
            }
            if self.flow.leader[pc] {
                if open {
                    self.fall(pc);
                }
                self.begin_block(pc);
            }
            self.emit.set_source(pc);
            self.verify_registers(pc);
            open = self.instruction(pc);
            if open {
                let before = self.tags.clone();
                tags::step(self.proto, self.snapshot, &self.flow, pc, false, &mut self.tags);
                if self.fault == Some(Fault::StaleTags) {
                    self.tags.keep_stale(&before);
                }
            }
        }
    }

    /// Returns the instruction at `pc`.
    fn instr(&self, pc: Pc) -> Instr {
        pc.instr(self.proto)
    }

    /// Translates one instruction; returns whether control continues after it.
    fn instruction(&mut self, pc: Pc) -> bool {
        if self.flow.cold[pc] {
            self.emit.deoptimize(FrameState::home(pc, Point::Before));
            return false;
        }
        self.speculate(pc);
        self.unguarded(pc)
    }

    /// Translates an instruction whose operands are what it speculates on; returns whether control
    /// continues after it.
    fn unguarded(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        match i.op() {
            Op::Move => {
                let (bits, tag) = self.any(i.rb());
                self.set(i.ra(), bits, tag);
            }
            Op::LoadI => {
                let v = self.emit.int(i.sbx());
                self.set(i.ra(), v, Known::Tag(Tag::INTEGER));
            }
            Op::LoadF => {
                let v = self.emit.ins().f64const(i.sbx() as f64);
                self.set_float(i.ra(), v);
            }
            Op::LoadK => self.load_constant(i.ra(), i.bx()),
            Op::LoadKX => {
                let n = self.instr(pc + 1).ax_value();
                self.load_constant(i.ra(), n);
            }
            Op::LoadFalse => {
                let zero = self.emit.int(0);
                self.set(i.ra(), zero, Known::Tag(Tag::FALSE));
            }
            Op::LFalseSkip => {
                let zero = self.emit.int(0);
                self.set(i.ra(), zero, Known::Tag(Tag::FALSE));
                self.go(pc, pc + 2);
                return false;
            }
            Op::LoadTrue => {
                let zero = self.emit.int(0);
                self.set(i.ra(), zero, Known::Tag(Tag::TRUE));
            }
            Op::LoadNil => {
                let zero = self.emit.int(0);
                for r in i.ra().range(i.b() + 1) {
                    self.set(r, zero, Known::Tag(Tag::NIL));
                }
            }
            Op::GetUpval | Op::SetUpval => self.upvalue_access(i),
            Op::GetTabUp => self.get_global(pc),
            Op::SetTabUp | Op::SetTabUpK => self.set_global(pc),
            Op::GetTable | Op::GetI => self.get_table(pc),
            Op::GetField | Op::SelfK => self.get_field(pc),
            Op::SetTable | Op::SetTableK | Op::SetI | Op::SetIK => self.set_table(pc),
            Op::SetField | Op::SetFieldK if self.built.contains(&pc) => self.verify_constructed(pc),
            Op::SetField | Op::SetFieldK => self.set_field(pc),
            Op::NewTable => self.new_table(pc),
            Op::SelfR => {
                self.emit.generic(pc);
                self.regs.forget(i.ra());
                self.regs.forget(i.ra() + 2);
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
                let tag = self.tag(i.rb());
                let zero = self.emit.int(0);
                match tag {
                    Known::Tag(k) => {
                        let not = if k.0 < Tag::TRUE.0 { Tag::TRUE } else { Tag::FALSE };
                        self.set(i.ra(), zero, Known::Tag(not));
                    }
                    Known::Value(t) => {
                        let falsy = self.emit.is_falsy(t);
                        let (yes, no) = (self.emit.tag(Tag::TRUE), self.emit.tag(Tag::FALSE));
                        let tag = self.emit.ins().select(falsy, yes, no);
                        self.set(i.ra(), zero, Known::Value(tag));
                    }
                }
            }
            Op::Len => self.length(pc),
            Op::Concat => {
                let (st, first) = (self.emit.state(), self.emit.address(i.ra()));
                let n = self.emit.int(i.b() as i64);
                let done = self.emit.runtime_word(self.calls.concat as usize, &[st, first, n]);
                self.emit.unless_generic(pc, done);
                for r in i.ra().range(i.b()) {
                    self.regs.forget(r);
                }
                let top = self.emit.frame_end();
                self.emit.poll(pc + 1, top);
            }
            Op::Close => self.close(pc),
            Op::Tbc => {
                self.emit.generic(pc);
            }
            Op::Jmp => {
                self.go(pc, pc.jump_target(self.proto));
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

    fn load_constant(&mut self, r: Reg, n: usize) {
        match &self.proto.constants[n] {
            Constant::Float(f) => {
                let v = self.emit.ins().f64const(*f);
                self.set_float(r, v);
            }
            _ => {
                let (bits, tag) = self.emit.constant(n);
                self.set(r, bits, Known::Tag(tag));
            }
        }
    }
}
