//! The code of single instructions, for instructions without an operation in the optimizing
//! compiler.
//!
//! [`Generic`](single::Generic) decides, based on feedback and on facts about registers, which code
//! to emit for an instruction, and uses [`Emitter`] to emit it. Registers are in their home slots
//! before and after an instruction, so the frame is complete at every call: a cold block can call
//! the runtime for the instruction, which leaves the result in its home slot. A CALL with one
//! result can instead return it as a value ([`Generic::call`](single::Generic::call)).

mod alloc;
mod arith;
mod builtins;
mod calls;
mod closing;
mod control;
mod fields;
mod iterate;
mod metamethods;
mod protected;
mod regs;
pub(crate) mod single;
mod speculate;
mod tables;
mod verify;

use std::collections::HashMap;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::{Block, Function, Value};
use cranelift_frontend::FunctionBuilderContext;
use perilune_bytecode::{Instr, Op, Proto};
use perilune_runtime::tier::RuntimeCalls;
use perilune_runtime::value::Tag;

use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::analysis::tags::{TagFlow, Tags};
use crate::codegen::{Body, Emitter};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::Snapshot;
use crate::pipeline::input::{Direct, Input};
use crate::pipeline::symbols::Callees;
use crate::testing::fault::Fault;
use regs::Regs;
use single::Way;

/// A translator of single instructions, one after the other.
pub(crate) struct Translator<'a> {
    emit: Emitter<'a>,
    proto: &'a Proto,
    snapshot: &'a Snapshot,
    calls: &'a RuntimeCalls,
    direct: &'a HashMap<u32, Direct>,
    /// The fault to inject, for tests.
    fault: Option<Fault>,
    flow: Flow,
    live: Live,
    tag_flow: TagFlow,
    /// The tags known before the instruction that is being translated.
    tags: Tags,
    /// The tags that registers are guarded to have during the instruction that is being translated.
    guarded: Vec<(Reg, Tag)>,
    regs: Regs,
    /// The number of arguments that the code is passed.
    nargs: Value,
    /// Whether the code is entered at a loop.
    is_loop: bool,
    /// The ends of the instruction, if it has several.
    ways: Vec<Way>,
    /// The block to which an instruction branches, instead of calling the runtime, if its code does
    /// not cover the case.
    slow_exit: Option<Block>,
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
            stress_exits: input.stress_exits,
            fault: input.fault,
        };
        let (emit, nargs) = Emitter::begin(func, context, body, callees);
        let entry = Pc::new(input.entry.unwrap_or(0));
        let flow = Flow::new(input.proto, input.snapshot, entry);
        let live = Live::new(input.proto, &flow);
        let tag_flow = TagFlow::new(input.proto, input.snapshot, &flow, &live, entry);
        let tags = Tags::unknown(input.proto);
        Translator {
            emit,
            proto: input.proto,
            snapshot: input.snapshot,
            calls: input.calls,
            direct: input.direct,
            fault: input.fault,
            regs: Regs::new(&tags, &flow),
            flow,
            live,
            tag_flow,
            tags,
            guarded: Vec::new(),
            nargs,
            is_loop: input.entry.is_some(),
            ways: Vec::new(),
            slow_exit: None,
        }
    }
}

impl Translator<'_> {
    /// Emits the code before the first instruction, which is at `entry`.
    fn enter(&mut self, entry: Pc) {
        if self.is_loop {
            self.check_entry(entry);
        } else {
            self.emit.prologue(self.nargs);
        }
    }

    /// Returns the instruction at `pc`.
    fn instr(&self, pc: Pc) -> Instr {
        pc.instr(self.proto)
    }

    /// Ends the block, and with it the instruction, which continues at `target`.
    fn go(&mut self, target: Pc) {
        let block = self.emit.block();
        self.ways.push(Way { target, block });
        self.emit.jump(block);
    }

    /// Translates one instruction; returns whether control continues after it.
    fn instruction(&mut self, pc: Pc) -> bool {
        self.speculate(pc);
        self.unguarded(pc)
    }

    /// Translates an instruction whose speculations have been guarded; returns whether control
    /// continues after it.
    fn unguarded(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        match i.op() {
            Op::GetTabUp => self.get_global(pc),
            Op::SetTabUp | Op::SetTabUpK => self.set_global(pc),
            Op::GetTable | Op::GetI => self.get_table(pc),
            Op::GetField | Op::SelfK => self.get_field(pc),
            Op::SetTable | Op::SetTableK | Op::SetI | Op::SetIK => self.set_table(pc),
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
            Op::Len => self.length(pc),
            Op::Concat => {
                let (st, first) = (self.emit.state(), self.emit.address(i.ra()));
                let n = self.emit.int(i.b() as i64);
                let done = self.emit.runtime_word(self.calls.concat as usize, &[st, first, n]);
                let (slow, on) = (self.emit.cold_block(), self.emit.block());
                self.emit.branch(done, on, slow);
                self.emit.switch_to(slow);
                if i.b() == 2 && self.has_handlers(pc) {
                    self.concat_handler(pc, on);
                }
                self.emit.generic(pc);
                self.emit.jump(on);
                self.emit.switch_to(on);
                for r in i.ra().range(i.b()) {
                    self.regs.forget(r);
                }
                let top = self.emit.frame_end();
                self.emit.poll(pc + 1, top);
            }
            Op::Close => self.close(pc),
            Op::Tbc => self.mark_to_close(pc),
            Op::Eq | Op::EqK => return self.equality(pc),
            Op::Lt | Op::Le | Op::LtI | Op::LeI | Op::GtI | Op::GeI => return self.order(pc),
            Op::Call => self.call(pc),
            Op::CallMeta => self.call_meta(pc),
            Op::TailCall => self.tail_call(pc),
            Op::Return => {
                self.return_results(pc);
                return false;
            }
            Op::ForPrep => return self.for_prep(pc),
            Op::ForLoop => return self.for_loop(pc),
            Op::TForPrep => {
                self.for_each_prep(pc);
                self.go(pc + 1 + i.bx());
                return false;
            }
            Op::TForCall => match self.slow_exit {
                Some(exit) => self.traverse(pc, exit),
                None => self.for_call(pc),
            },
            Op::TForLoop => return self.for_each(pc),
            Op::Closure => self.make_closure(pc),
            Op::VarArg => self.var_arg(pc),
            op => unreachable!("the builder has operations for {op:?}"),
        }
        true
    }
}
