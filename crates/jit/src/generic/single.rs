//! Translates single instructions of a function and of the functions inlined in it.

use std::collections::HashMap;

use cranelift_codegen::entity::{EntityRef, EntitySet};
use cranelift_codegen::ir::{Block, Function, Value};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;
use perilune_bytecode::effects::effects;
use perilune_bytecode::feedback::access;
use perilune_bytecode::{Feedback, Instr, Op, Proto};
use perilune_runtime::value::Tag;

use super::Translator;
use super::regs::Regs;
use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::analysis::tags::{self, TagFlow, Tags};
use crate::codegen::Emitter;
use crate::codegen::element::{ElementStore, Kinds};
use crate::codegen::inline::InlinedFrame;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg};
use crate::exits::map::ExitMap;
use crate::feedback::snapshot::{MAX_PATHS, Snapshot};
use crate::pipeline::input::{Direct, Inlinee, Input};
use crate::pipeline::symbols::Callees;

/// An end of an instruction: the block that it jumps to in order to continue at `target`.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) target: Pc,
    pub(crate) block: Block,
}

/// The known content of a register that is in its home slot.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) register: Reg,
    /// The payload, if it is in a machine register.
    pub(crate) payload: Option<Payload>,
    /// The tag, if it is a known constant or in a machine register.
    pub(crate) tag: Option<Known>,
}

/// A payload, in the kind of machine register that holds it.
#[derive(Clone, Copy)]
pub(crate) enum Payload {
    Bits(Value),
    Float(Value),
}

/// Returns whether the code of an instruction finds most results without running Lua code, and has
/// no effect otherwise. Such code can exit instead of running the instruction in the runtime.
pub(crate) fn has_fast_path(snapshot: &Snapshot, pc: Pc, i: Instr) -> bool {
    use Op::*;
    match i.op() {
        GetField | SelfK | SetField | SetFieldK => {
            let field = snapshot.field(pc);
            if field.is_megamorphic() {
                return true;
            }
            let paths = field.paths.len() + usize::from(field.dictionaries);
            (1..=MAX_PATHS).contains(&paths)
        }
        GetTable | GetI | SetTable | SetTableK | SetI | SetIK => {
            snapshot.cell(pc) & access::ALL != 0 && snapshot.cell(pc) & access::NO_TABLE == 0
        }
        SetTabUp | SetTabUpK => true,
        _ => false,
    }
}

/// A function whose instructions are translated, with the results of analyses.
#[derive(Clone)]
pub(crate) struct Part<'a> {
    pub(crate) proto: &'a Proto,
    pub(crate) snapshot: &'a Snapshot,
    direct: &'a HashMap<u32, Direct>,
    pub(crate) flow: Flow,
    live: Live,
    pub(crate) tags: TagFlow,
}

impl<'a> Part<'a> {
    /// Analyses an inlined function.
    pub(crate) fn of(inlinee: &'a Inlinee) -> Part<'a> {
        let (proto, snapshot, entry) = (&*inlinee.proto, &*inlinee.snapshot, Pc::new(0));
        let flow = Flow::new(proto, snapshot, entry);
        let live = Live::new(proto, &flow);
        let tags = TagFlow::new(proto, snapshot, &flow, &live, entry);
        Part { proto, snapshot, direct: &inlinee.direct, flow, live, tags }
    }
}

/// A translator of single instructions, of the function itself and of those inlined in it.
pub(crate) struct Generic<'a> {
    t: Translator<'a>,
    /// The functions of all frames except the current one, by number.
    others: Vec<Option<Part<'a>>>,
    current: usize,
}

impl<'a> Generic<'a> {
    /// Begins the code of a function in `func`.
    pub(crate) fn begin(
        func: &'a mut Function,
        context: &'a mut FunctionBuilderContext,
        input: &Input<'a>,
        callees: Callees<'a>,
    ) -> Generic<'a> {
        let t = Translator::begin(func, context, input, callees);
        Generic { t, others: vec![None], current: 0 }
    }

    /// Adds a frame of an inlined function; frames are numbered in this order, from 1 on.
    pub(crate) fn add_frame(&mut self, part: Part<'a>, frame: InlinedFrame) {
        self.t.emit.add_frame(part.proto, frame);
        self.others.push(Some(part));
    }

    /// Switches to frame `n` for the following code.
    pub(crate) fn in_frame(&mut self, n: usize) {
        if n == self.current {
            return;
        }
        let part = self.others[n].take().expect("only the current one is elsewhere");
        self.others[self.current] = Some(self.t.replace(part));
        self.current = n;
        self.t.emit.in_frame(n);
        self.begin_block();
    }

    /// Allocates the closure of the CLOSURE at `pc`; branches to `slow` if there is no room.
    pub(crate) fn new_closure(&mut self, pc: Pc, slow: Block) -> Value {
        self.t.new_closure(pc, slow)
    }

    /// Emits the code before the first instruction, which is at `entry`.
    pub(crate) fn enter(&mut self, entry: Pc) {
        self.t.enter(entry);
    }

    /// Ends the code; returns its exits.
    pub(crate) fn finish(mut self, isa: &dyn TargetIsa) -> ExitMap {
        self.in_frame(0);
        self.t.emit.finish(isa)
    }

    /// Returns the emitter.
    pub(crate) fn emit(&mut self) -> &mut Emitter<'a> {
        &mut self.t.emit
    }

    /// Returns the analyses of the function: control flow, liveness, and tags at merge points.
    pub(crate) fn analyses(&self) -> (&Flow, &Live, &TagFlow) {
        (&self.t.flow, &self.t.live, &self.t.tag_flow)
    }

    /// Returns the conditions that the store to an element at `pc` is likely to find.
    pub(crate) fn element_store(&self, pc: Pc) -> ElementStore {
        self.t.element_store(pc)
    }

    /// Returns the kinds of arrays that the access at `pc` has seen, and whether it may have seen
    /// keys outside the array. The call of an iterator records neither: it may meet all kinds, and
    /// leaves the array once.
    pub(crate) fn elements_seen(&self, pc: Pc) -> (Kinds, bool) {
        match self.t.instr(pc).op().feedback() {
            Feedback::Access => {
                let cell = self.t.snapshot.cell(pc);
                (Kinds::of(cell), cell & access::OUTSIDE != 0)
            }
            _ => (Kinds::of(access::INTS | access::ANY | access::BOOLS), false),
        }
    }

    /// Returns the number of the record of the instruction at `pc`.
    pub(crate) fn record_number(&self, pc: Pc) -> usize {
        self.t.snapshot.cell(pc) as usize
    }

    /// Sets the registers of the outermost function that closures share. Others need not be in
    /// their home slots.
    pub(crate) fn set_captured(&mut self, captured: &EntitySet<Reg>) {
        assert_eq!(self.current, 0, "no code has been emitted yet");
        for r in self.t.tags.registers() {
            self.t.flow.captured[r] = captured.contains(r);
        }
    }

    /// Begins a block that the known values of registers do not dominate.
    pub(crate) fn begin_block(&mut self) {
        self.t.regs = Regs::new(&Tags::unknown(self.t.proto), &self.t.flow);
        self.t.tags = Tags::unknown(self.t.proto);
    }

    /// Translates the instruction at `pc`. Registers that are read must be in their home slots, and
    /// results are left there; `held` are the known contents. Returns the ends of the instruction,
    /// if it has several, and whether control continues in the current block.
    pub(crate) fn instruction(&mut self, pc: Pc, held: &[Held]) -> (Vec<Way>, bool) {
        self.hold(held);
        let t = &mut self.t;
        t.emit.set_source(pc);
        t.verify_registers(pc);
        let open = t.instruction(pc);
        let ways = std::mem::take(&mut t.ways);
        if open {
            tags::step(t.proto, t.snapshot, &t.flow, pc, false, &mut t.tags);
        }
        t.guarded.clear();
        (ways, open)
    }

    /// Like [`Generic::instruction`], for a CALL with one result. Returns payload and tag of the
    /// result, which is not left in its home slot.
    pub(crate) fn call(&mut self, pc: Pc, held: &[Held]) -> (Value, Value) {
        self.hold(held);
        let t = &mut self.t;
        t.emit.set_source(pc);
        t.verify_registers(pc);
        t.speculate(pc);
        let result = t.call_for_value(pc);
        t.guarded.clear();
        result
    }

    /// Replaces the known contents of registers by `held`.
    fn hold(&mut self, held: &[Held]) {
        let t = &mut self.t;
        t.regs = Regs::new(&t.tags, &t.flow);
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
    }

    /// Translates the instruction at `pc`, for which [`has_fast_path`] holds, without code that
    /// runs it in the runtime: control goes to `exit` instead. Registers that are read need not be
    /// in their home slots if `held` has their payloads; results are left there. Emits no guards.
    pub(crate) fn fast_path(&mut self, pc: Pc, held: &[Held], exit: Block) {
        self.hold(held);
        let t = &mut self.t;
        t.emit.set_source(pc);
        t.slow_exit = Some(exit);
        let open = t.unguarded(pc);
        assert!(open, "control continues after an instruction with a fast path");
        t.slow_exit = None;
        tags::step(t.proto, t.snapshot, &t.flow, pc, false, &mut t.tags);
        // The home slots of other registers may hold anything.
        let written = effects(pc.instr(t.proto)).writes;
        for &Held { register, .. } in held {
            let is_written =
                |(from, count): (usize, usize)| (from..from + count).contains(&register.index());
            if !written.into_iter().any(is_written) {
                t.regs.forget(register);
                t.tags.set(register, None);
            }
        }
    }

    /// Returns payload and tag of a register that is in its home slot. `tag` is its tag, if it is
    /// known.
    pub(crate) fn register(&mut self, r: Reg, tag: Option<Tag>) -> (Payload, Known) {
        let t = &mut self.t;
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

impl<'a> Translator<'a> {
    /// Continues with another function; returns the previous one.
    fn replace(&mut self, part: Part<'a>) -> Part<'a> {
        Part {
            proto: std::mem::replace(&mut self.proto, part.proto),
            snapshot: std::mem::replace(&mut self.snapshot, part.snapshot),
            direct: std::mem::replace(&mut self.direct, part.direct),
            flow: std::mem::replace(&mut self.flow, part.flow),
            live: std::mem::replace(&mut self.live, part.live),
            tags: std::mem::replace(&mut self.tag_flow, part.tags),
        }
    }
}
