//! Single instructions for the optimizing compiler: those that it has no operations for are
//! translated as here, on registers in their home slots.

use std::ops::Range;

use cranelift_codegen::ir::{Block, Function, Value};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use perilune_runtime::value::Tag;

use super::Translator;
use super::regs::Regs;
use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::analysis::tags::{self, TagFlow, Tags};
use crate::codegen::Emitter;
use crate::codegen::table::ElementStore;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg};
use crate::exits::map::ExitMap;
use crate::pipeline::input::Input;
use crate::pipeline::symbols::Callees;

/// An end of an instruction: the block that it jumps to in order to continue at `target`.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) target: Pc,
    pub(crate) block: Block,
}

/// What is known of a register that is in its home slot.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) register: Reg,
    /// The payload, where it is in a register of the machine.
    pub(crate) payload: Option<Payload>,
    /// The tag, where it is known or in a register of the machine.
    pub(crate) tag: Option<Known>,
}

/// A payload, as the machine holds it.
#[derive(Clone, Copy)]
pub(crate) enum Payload {
    Bits(Value),
    Float(Value),
}

/// A translator of single instructions.
pub(crate) struct Generic<'a>(Translator<'a>);

impl<'a> Generic<'a> {
    /// Begins the code of a function in `func`.
    pub(crate) fn begin(
        func: &'a mut Function,
        context: &'a mut FunctionBuilderContext,
        input: &Input<'a>,
        callees: Callees<'a>,
    ) -> Generic<'a> {
        Generic(Translator::begin(func, context, input, callees))
    }

    /// Emits what happens before the first instruction, which is at `entry`.
    pub(crate) fn enter(&mut self, entry: Pc) {
        self.0.enter(entry);
    }

    /// Ends the code; returns its exits.
    pub(crate) fn finish(self, isa: &dyn TargetIsa) -> ExitMap {
        self.0.emit.finish(isa)
    }

    /// Returns what emits code.
    pub(crate) fn emit(&mut self) -> &mut Emitter<'a> {
        &mut self.0.emit
    }

    /// Returns the analyses of the function: control flow, and tags where it meets.
    pub(crate) fn analyses(&self) -> (&Flow, &Live, &TagFlow) {
        (&self.0.flow, &self.0.live, &self.0.tag_flow)
    }

    /// Returns what the store to an element at `pc` is likely to meet.
    pub(crate) fn element_store(&self, pc: Pc) -> ElementStore {
        self.0.element_store(pc)
    }

    /// Returns the stores after the NEWTABLE at `pc` that its code does: they are not to be
    /// translated.
    pub(crate) fn built_by(&self, pc: Pc) -> Range<Pc> {
        self.0.built_by(pc)
    }

    /// Returns the number of the record of the instruction at `pc`.
    pub(crate) fn record_number(&self, pc: Pc) -> usize {
        self.0.snapshot.cell(pc) as usize
    }

    /// A block begins that what is known of registers does not dominate.
    pub(crate) fn begin_block(&mut self) {
        self.0.regs.begin();
        self.0.tags = Tags::unknown(self.0.proto);
    }

    /// Translates the instruction at `pc`. Registers that are read are in their home slots, and
    /// results are left there; `held` is what is known of them. Returns its ends, if it has
    /// several, and whether control continues in the current block.
    pub(crate) fn instruction(&mut self, pc: Pc, held: &[Held]) -> (Vec<Way>, bool) {
        let t = &mut self.0;
        t.regs = Regs::new(&t.tags, &t.flow, false);
        t.tags = Tags::unknown(t.proto);
        for &Held { register, payload, tag } in held {
            match (payload, tag) {
                (Some(Payload::Bits(bits)), Some(tag)) => t.regs.note(register, bits, tag),
                (Some(Payload::Float(float)), Some(tag)) => {
                    t.regs.note_float(register, float, tag);
                }
                _ => {}
            }
            if let Some(Known::Tag(tag)) = tag {
                t.tags.set(register, Some(tag));
            }
        }
        t.emit.set_source(pc);
        t.verify_registers(pc);
        t.ways = Some(Vec::new());
        let open = t.instruction(pc);
        let ways = t.ways.take().unwrap_or_default();
        if open {
            tags::step(t.proto, t.snapshot, &t.flow, pc, false, &mut t.tags);
        }
        t.guarded.clear();
        (ways, open)
    }

    /// Returns payload and tag of a register that is in its home slot. `tag`: what is known of the
    /// tag.
    pub(crate) fn register(&mut self, r: Reg, tag: Option<Tag>) -> (Payload, Known) {
        let t = &mut self.0;
        let tag = match tag {
            Some(tag) => Known::Tag(tag),
            None => t.tag(r),
        };
        let payload = match tag {
            Known::Tag(Tag::FLOAT) => Payload::Float(t.float(r)),
            _ => Payload::Bits(t.bits(r)),
        };
        (payload, tag)
    }
}
