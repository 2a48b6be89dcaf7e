//! From bytecode and feedback to the intermediate representation.
//!
//! Instructions are built in order. Registers become SSA values: the value of a register is in its
//! home slot only where an instruction is executed by generic code ([`Op::Generic`]), where the
//! runtime may inspect the frame, or at exits. Cases that feedback has not recorded exit.
//!
//! **Invariant:** after an instruction that may collect garbage, the values of registers are those
//! that were in their home slots before it, the result of the instruction, or values that were
//! loaded or computed since. No value is held across a collection unless the collector can reach it
//! from a home slot, or from a never-assigned upvalue of a closure that it can reach.

mod access;
mod arith;
mod control;
mod dispatch;
mod extra;
mod global;
mod hoist;
mod inline;
mod iterate;
mod library;
mod loops;
mod merge;
mod objects;
mod order;
mod partial;
mod rows;
mod upvalue;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::flow::{is_test, returns_class};
use perilune_bytecode::{Constant, Instr, Op as Bytecode, Proto};
use perilune_runtime::value::Tag;

use super::ir::{
    Block, BlockData, End, Frame, FrameData, FrameState, Function, Inst, Op, State, Target, Type,
    Value,
};
use super::known::{Known, Upvalue};
use super::passes::homes::loop_registers;
use inline::{Late, Return};
pub(crate) use loops::Loops;
use loops::{Noise, Peel, Stores};
use order::{Entered, Order};
use partial::Kept;

use crate::analysis::complete::Invocation;
use crate::analysis::early::EarlyPart;
use crate::analysis::facts::facts;
use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::analysis::operation::operation;
use crate::analysis::tags::{self, TagFlow, Tags};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::{CalleeSeen, Snapshot};
use crate::generic::single::{Part, has_fast_path};
use crate::pipeline::input::{Inlinee, Inlinees};
use crate::testing::fault::Fault;

/// The input for building a function.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) proto: &'a Arc<Proto>,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) flow: &'a Flow,
    /// Registers whose values are needed: code or debuggers may read them before they are written.
    pub(crate) needed: &'a Live,
    pub(crate) tags: &'a TagFlow,
    /// Calls that may be inlined.
    pub(crate) calls: &'a Calls,
    /// Where the code is entered: at the beginning, or at a loop.
    pub(crate) entry: Pc,
    pub(crate) is_loop: bool,
    /// The early returns, if the function is inlined and only these are built.
    pub(crate) early: Option<&'a EarlyPart>,
    /// Whether the code counts instructions, so that each iteration of a loop ends at a poll.
    pub(crate) counts: bool,
    /// Whether the code checks the values that it holds.
    pub(crate) verify_values: bool,
    /// The fault to inject, for tests.
    pub(crate) fault: Option<Fault>,
}

/// The functions that may be inlined at calls, by pc: the numbers of the candidates.
pub(crate) type Calls = HashMap<u32, Vec<usize>>;

/// A function that may be inlined.
pub(crate) struct Candidate<'a> {
    pub(crate) inlinee: &'a Inlinee,
    pub(crate) part: Part<'a>,
    /// See [`Source::needed`].
    needed: Live,
    /// See [`Source::calls`].
    calls: Calls,
    /// The number of its results, if it is always the same.
    results: Option<usize>,
}

/// Adds the functions that may be inlined at the calls of a function; returns their numbers.
pub(crate) fn add_candidates<'a>(
    all: &mut Vec<Candidate<'a>>,
    caller: Invocation<'_>,
    inlinees: &'a Inlinees,
) -> Calls {
    let mut add = |pc: u32, inlinee: &'a Inlinee| {
        let passed = caller.arguments_at(pc);
        let Inlinee { proto, snapshot, .. } = inlinee;
        let called = Invocation { proto, snapshot, passed };
        let calls = add_candidates(all, called, &inlinee.inlinees);
        let (needed, results) = (Live::in_interpreter(proto), called.results());
        all.push(Candidate { inlinee, part: Part::of(inlinee), needed, calls, results });
        all.len() - 1
    };
    let at = inlinees.iter();
    at.map(|(&pc, at)| (pc, at.iter().map(|inlinee| add(pc, inlinee)).collect())).collect()
}

/// Builds a function. Loops are built according to what they look like, unless `loops` records that
/// this is wrong; further wrong assumptions may be found and are added.
pub(crate) fn build(
    source: Source<'_>,
    candidates: &[Candidate<'_>],
    loops: &mut Loops,
) -> Function {
    loops::until_known(loops, |loops| build_assuming(source, candidates, loops))
}

/// Builds a function; loops are built according to what they look like, unless `loops` records that
/// this is wrong. Also returns the loops for which the assumptions were wrong; if there are any,
/// the function must not be used.
fn build_assuming(
    source: Source<'_>,
    candidates: &[Candidate<'_>],
    loops: &Loops,
) -> (Function, Loops) {
    let size = source.tags.at(source.entry).registers().count();
    let mut f = Function { is_entered_in_loop: source.is_loop, ..Function::default() };
    let proto = source.proto.clone();
    let frame = f.frames.push(FrameData::outermost(proto));
    let Source { proto, flow, entry, .. } = source;
    let (order, rest) = match Entered::new(proto, flow, entry) {
        Some(Entered { first, rest }) => (first, Some(rest)),
        None => (Order::new(proto, flow, entry), None),
    };
    let mut builder = Builder {
        source,
        candidates,
        frame,
        offset: 0,
        closure: None,
        outer: Vec::new(),
        extra: Vec::new(),
        returns: Vec::new(),
        late: Vec::new(),
        is_repeatable: true,
        f,
        block: Block::new(0),
        registers: vec![None; size],
        tags: source.tags.at(source.entry).clone(),
        known: Known::default(),
        constants: Constants::default(),
        carried: HashMap::new(),
        kept: HashMap::new(),
        state: None,
        pc: source.entry,
        order,
        rest,
        built: source.entry..source.entry,
        receiver: None,
        open: None,
        selected: None,
        starts: SecondaryMap::new(),
        loops,
        found: Loops::default(),
        noise: Noise::default(),
        quiet: None,
        known_at_head: None,
        is_refuted: false,
        peel: None,
        peeled: HashSet::new(),
        done: HashSet::new(),
        skipped: HashSet::new(),
    };
    for r in builder.all() {
        if builder.is_captured(r) {
            builder.f.captured.insert(r);
        }
    }
    builder.entry();
    builder.body();
    (builder.f, builder.found)
}

/// Where a block begins, and how it is reached.
#[derive(Clone, Default)]
struct Start {
    block: Option<Block>,
    /// Whether the block has been begun: further edges to it are back edges.
    is_begun: bool,
    incoming: Vec<Incoming>,
}

/// An edge: a block that ends with a jump whose arguments are not known yet.
#[derive(Clone)]
struct Incoming {
    from: Block,
    registers: Vec<Option<Value>>,
    known: Known,
}

/// The values that are constants.
#[derive(Default)]
struct Constants {
    integers: HashMap<Value, i64>,
    floats: HashMap<Value, f64>,
    /// String constants: the frame of the function that has the constant, and its number.
    strings: HashMap<Value, (Frame, usize)>,
    /// Integers that are the sum of another integer and a constant.
    offsets: HashMap<Value, (Value, i64)>,
    /// Floats that are the quotient of an integer and a constant.
    quotients: HashMap<Value, (Value, u64)>,
}

impl Constants {
    /// Returns the integer, if the value is a constant integer.
    fn integer(&self, v: Value) -> Option<i64> {
        self.integers.get(&v).copied()
    }

    /// Returns the number as a float, if the value is a constant number.
    fn number(&self, v: Value) -> Option<f64> {
        self.floats.get(&v).copied().or_else(|| self.integer(v).map(|n| n as f64))
    }
}

/// The results of a call or of VARARG, if the next instruction uses all of them.
#[derive(Clone)]
struct Open {
    /// The instruction that uses them.
    user: Pc,
    /// The register after them.
    end: Reg,
    /// The results that are above the registers of the function.
    above: Vec<Value>,
}

struct Builder<'a> {
    source: Source<'a>,
    candidates: &'a [Candidate<'a>],
    /// The frame of the function, and where its register 0 is.
    frame: Frame,
    offset: usize,
    /// The closure, if the function is inlined.
    closure: Option<Value>,
    /// The registers of callers that are needed after the calls that lead here.
    outer: Vec<(Reg, Value)>,
    /// The extra arguments, if the function is an inlined vararg function.
    extra: Vec<Value>,
    /// Returns, if the function is inlined.
    returns: Vec<Return>,
    /// The ends of an inlined function where it has not returned early, if only its early returns
    /// are inlined.
    late: Vec<Late>,
    /// Whether the instructions that lead there have no side effects, so that the function may
    /// execute them again.
    is_repeatable: bool,
    f: Function,
    /// The block to which instructions are added.
    block: Block,
    /// The values of registers. The values of other registers are in their home slots.
    registers: Vec<Option<Value>>,
    /// Tags known before the instruction that is being built.
    tags: Tags,
    known: Known,
    constants: Constants,
    /// The upvalues for which loop heads have parameters, after all other parameters.
    carried: HashMap<Block, Vec<Upvalue>>,
    /// What loops preserve, by their heads.
    kept: HashMap<Block, Kept>,
    /// The state before the instruction, computed when it is first needed.
    state: Option<State>,
    pc: Pc,
    order: Order,
    /// The blocks that follow those of `order`, if `order` is the loop of an OSR entry.
    rest: Option<Order>,
    /// Stores that were already built as part of the table's allocation.
    built: Range<Pc>,
    /// The shape of the receiver for which a call is built, if the receiver may have several
    /// shapes.
    receiver: Option<u32>,
    /// Results that the next instruction uses completely, if their number is known.
    open: Option<Open>,
    /// The result of the next instruction, if it is a call of `select` that has already been built.
    selected: Option<Value>,
    starts: SecondaryMap<Pc, Start>,
    /// Loops about which assumptions were wrong.
    loops: &'a Loops,
    /// Further loops for which assumptions were found to be wrong.
    found: Loops,
    noise: Noise,
    /// The head of the quiet loop that is being built.
    quiet: Option<(Pc, Stores)>,
    /// In debug builds, what is known at the head of that loop.
    known_at_head: Option<Known>,
    /// Whether a part of that is not known any more at a back edge.
    is_refuted: bool,
    /// The iteration that is being peeled.
    peel: Option<Peel>,
    /// Heads of loops whose first iteration was peeled.
    peeled: HashSet<Pc>,
    /// Blocks that were built earlier than their position in the order, together with the loop that
    /// contains them.
    done: HashSet<Pc>,
    /// Blocks that were not reachable when they were to be built.
    skipped: HashSet<Pc>,
}

impl Builder<'_> {
    /// Begins the function: its parameters, or the registers of a loop, are in their home slots.
    fn entry(&mut self) {
        self.begin(BlockData::default());
        let params = usize::from(self.source.proto.num_params);
        let entry = self.source.entry;
        self.own_closure();
        for r in self.all() {
            let is_passed =
                if self.source.is_loop { self.is_needed(entry, r) } else { r.index() < params };
            if is_passed {
                self.load(r);
            }
        }
        self.fall(entry);
    }

    fn body(&mut self) {
        self.blocks();
        let Some(rest) = self.rest.take() else { return };
        // the blocks of the loop are built again, as part of the enclosing loop
        for &pc in &self.order.blocks {
            self.starts[pc] = Start::default();
        }
        self.done.clear();
        self.skipped.clear();
        self.peeled.clear();
        for &pc in &rest.blocks {
            if let Some(block) = self.starts[pc].block {
                self.f.blocks[block].is_loop = rest.is_loop[pc];
            }
        }
        self.order = rest;
        self.blocks();
    }

    /// Builds the blocks in their order.
    fn blocks(&mut self) {
        for n in 0..self.order.blocks.len() {
            let pc = self.order.blocks[n];
            if self.done.contains(&pc) {
                continue;
            }
            if let Some(early) = self.source.early {
                self.build_early(pc, early);
                continue;
            }
            match self.order.loops.contains_key(&pc) {
                true => self.build_loop(pc),
                false => self.build_block(pc),
            }
        }
    }

    /// Builds the block that begins at `pc`, if a block that was built leads there.
    fn build_block(&mut self, pc: Pc) {
        if self.begin_at(pc) {
            self.block_from(pc);
        } else {
            self.skipped.insert(pc);
        }
    }

    /// Builds the instructions of a block that begins at `pc`.
    fn block_from(&mut self, mut pc: Pc) {
        loop {
            let dispatch = self.dispatch_at(pc);
            let before = self.noise;
            let is_open = match &dispatch {
                Some(dispatch) => self.dispatch(dispatch),
                None => self.step(pc),
            };
            let early = self.source.early;
            // generic code may have an effect
            self.is_repeatable &= self.noise == before || !early.is_some_and(|e| e.decides(pc));
            if !is_open {
                return;
            }
            let last = dispatch.map_or(pc, |dispatch| dispatch.last);
            let (next, _) = self.source.flow.successors(self.source.proto, last);
            pc = next.expect("control continues after the instruction");
            if self.source.flow.leader[pc] {
                return self.fall(pc);
            }
            if early.is_some_and(|early| !early.contains(pc)) {
                return self.end_early_part(pc);
            }
        }
    }

    /// Builds the instruction at `pc`; returns whether control continues after it.
    fn step(&mut self, pc: Pc) -> bool {
        self.pc = pc;
        self.state = None;
        // another copy of the instruction before may have had results whose number is known
        self.open = self.open.take().filter(|open| open.user == pc);
        if !self.instruction(pc) {
            return false;
        }
        let written = self.written(pc);
        self.step_tags(false);
        // results that an instruction has left in home slots are loaded while they are known to be
        // there
        for r in written {
            if self.registers[r.index()].is_none() {
                self.load(r);
            }
        }
        true
    }

    /// Computes the tags known after the instruction, in sequence or (`jumps`) where it jumps to.
    fn step_tags(&mut self, jumps: bool) {
        let Source { proto, snapshot, flow, .. } = self.source;
        tags::step(proto, snapshot, flow, self.pc, jumps, &mut self.tags);
    }

    /// Returns the registers that an instruction writes, each exactly once.
    fn written(&self, pc: Pc) -> Vec<Reg> {
        let i = self.instr(pc);
        let e = effects(i);
        let writes = e.writes.iter().flat_map(|&(from, count)| Reg::new(from).range(count));
        writes
            .filter(|&r| r.index() < self.registers.len() && !self.is_captured(r))
            .filter(|&r| self.is_needed(pc + 1, r))
            .collect()
    }

    /// Returns all registers of the frame.
    fn all(&self) -> impl Iterator<Item = Reg> + use<> {
        (0..self.registers.len()).map(Reg::new)
    }

    fn is_captured(&self, r: Reg) -> bool {
        self.source.flow.captured[r]
    }

    /// Returns whether the value of a register is still needed before the instruction at `pc`.
    fn is_needed(&self, pc: Pc, r: Reg) -> bool {
        !self.is_captured(r) && self.source.needed.is_live(pc, r)
    }

    fn instr(&self, pc: Pc) -> Instr {
        pc.instr(self.source.proto)
    }

    /// Begins a block.
    fn begin(&mut self, data: BlockData) {
        self.block = self.f.blocks.push(data);
        self.f.order.push(self.block);
    }

    /// Adds an instruction without a result.
    fn push(&mut self, op: Op) {
        let inst = Inst { pc: self.pc, frame: self.frame, result: None, op };
        self.f.blocks[self.block].insts.push(inst);
    }

    /// Adds an instruction with a result.
    fn value(&mut self, ty: Type, op: Op) -> Value {
        let v = self.f.value(ty);
        match op {
            Op::Integer(n) => drop(self.constants.integers.insert(v, n)),
            Op::Float(bits) => drop(self.constants.floats.insert(v, f64::from_bits(bits))),
            Op::Str(n) => drop(self.constants.strings.insert(v, (self.frame, n))),
            _ => {}
        }
        let inst = Inst { pc: self.pc, frame: self.frame, result: Some(v), op };
        self.f.blocks[self.block].insts.push(inst);
        v
    }

    fn end(&mut self, end: End) {
        self.f.blocks[self.block].end = end;
    }

    /// Loads a register from its home slot.
    fn load(&mut self, r: Reg) -> Value {
        let ty = self.tags[r].map_or(Type::Any, Type::Is);
        let v = self.value(ty, Op::Register(r + self.offset));
        if !self.is_captured(r) {
            self.registers[r.index()] = Some(v);
        }
        v
    }

    /// Returns the value of a register.
    fn read(&mut self, r: Reg) -> Value {
        let held = match r.index().checked_sub(self.registers.len()) {
            None => self.registers[r.index()],
            Some(n) => self.open().and_then(|open| open.above.get(n).copied()),
        };
        match held {
            Some(v) => self.refined(v),
            None => self.load(r),
        }
    }

    /// Returns the results all of which the instruction uses, if their number is known.
    fn open(&self) -> Option<&Open> {
        self.open.as_ref().filter(|open| open.user == self.pc)
    }

    /// Writes a register.
    fn write(&mut self, r: Reg, v: Value) {
        if self.is_captured(r) {
            self.push(Op::SetRegister(r + self.offset, v));
            self.share(v);
            self.forget_upvalues();
        } else {
            self.registers[r.index()] = Some(v);
        }
    }

    /// Returns the state before the instruction. Nothing may have been written yet.
    fn state(&mut self) -> State {
        if let Some(state) = self.state {
            return state;
        }
        let state = self.state_at(self.pc);
        self.state = Some(state);
        state
    }

    /// Returns the state of the frame if it continues at `pc`.
    fn state_at(&mut self, pc: Pc) -> State {
        let own = self.all().filter(|&r| self.is_needed(pc, r));
        let own = own.filter_map(|r| Some((r + self.offset, self.registers[r.index()]?)));
        let open = self.open.as_ref().filter(|open| open.user == pc);
        let open = open.into_iter().flat_map(|open| &open.above).enumerate();
        let above = open.map(|(n, &v)| (Reg::new(self.offset + self.registers.len() + n), v));
        let registers = self.callers().chain(own).chain(above).collect();
        self.f.states.push(FrameState::new(self.frame, pc, registers))
    }

    /// Adds an instruction that checks what is known, in code that checks itself.
    fn check(&mut self, op: Op) {
        if self.source.verify_values {
            self.push(op);
        }
    }

    /// Returns the value after a guard that it has this tag.
    fn guard(&mut self, v: Value, tag: Tag) -> Value {
        let v = self.refined(v);
        if self.f.consult(v) == Type::Is(tag) {
            return v;
        }
        let state = self.state();
        let guarded = self.value(Type::Is(tag), Op::Guard(v, tag, state));
        let origin = self.f.origin(v);
        self.f.values[guarded].origin = Some(origin);
        self.known.note_guarded(origin, guarded);
        if tag == Tag::TABLE {
            self.note_row(origin, guarded);
        }
        guarded
    }

    /// Returns a value after the guards of its type that dominate the current position.
    fn refined(&self, v: Value) -> Value {
        self.known.guarded(self.f.origin(v)).unwrap_or(v)
    }

    /// Executes the instruction by generic code.
    fn generic(&mut self) {
        let state = self.state();
        self.push(Op::Generic(state));
        self.after_call(state);
        self.forget();
    }

    /// Executes a CALL by generic code. A single result is not stored. A callee that has always
    /// been a Lua function is guarded to be one.
    fn generic_call(&mut self) {
        let (i, snapshot) = (self.instr(self.pc), self.source.snapshot);
        let a = i.ra();
        let callee = self.read(a);
        if !snapshot.general
            && snapshot.callee(self.pc) == CalleeSeen::Lua
            && !self.is_captured(a)
            && !self.is_never(callee, Tag::FUNCTION)
        {
            let callee = self.guard(callee, Tag::FUNCTION);
            self.write(a, callee);
            self.state = None;
        }
        if i.c() != 2 || self.is_captured(a) {
            return self.generic();
        }
        let state = self.state();
        let result = self.value(Type::Any, Op::Call(state));
        self.after_call(state);
        self.forget();
        self.write(a, result);
    }

    /// Executes the instruction by the fast paths of generic code, if it has fast paths that are
    /// likely to apply, and exits if they do not; otherwise executes it by the complete generic
    /// code.
    fn fast_path(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let snapshot = self.source.snapshot;
        let facts = facts(snapshot, pc, i);
        let operands = facts.guards.iter().map(|&(r, tag)| (self.read(r), tag));
        let operands: Vec<(Value, Tag)> = operands.collect();
        let is_likely = has_fast_path(snapshot, pc, i)
            && !snapshot.general
            && !snapshot.failed.contains(&pc.as_u32())
            && facts.result.is_none()
            && !operands.iter().any(|&(v, tag)| self.is_never(v, tag));
        if !is_likely {
            return self.generic();
        }
        for (r, tag) in facts.guards {
            let v = self.read(r);
            let v = self.guard(v, tag);
            if let Some(held) = &mut self.registers[r.index()] {
                *held = v;
            }
        }
        let state = self.state_at(pc);
        self.push(Op::FastPath(state));
        self.known.share_all();
        self.forget();
        let written = effects(i).writes.into_iter();
        if written
            .flat_map(|(from, count)| Reg::new(from).range(count))
            .any(|r| self.is_captured(r))
        {
            self.forget_upvalues();
        }
        use Bytecode::*;
        match i.op() {
            SetField | SetFieldK | SetTable | SetTableK | SetI | SetIK | SetTabUp | SetTabUpK => {
                self.noise.add_any();
                self.known.forget_tables();
            }
            _ => {}
        }
    }

    fn forget_upvalues(&mut self) {
        self.noise.add_upvalue();
        self.known.forget_upvalues();
    }

    /// Discards the values of registers that the instruction has left in their home slots.
    fn forget(&mut self) {
        let size = self.registers.len();
        let i = self.instr(self.pc);
        let e = effects(i);
        if let Some(from) = e.releases {
            self.registers[from.min(size)..].fill(None);
        }
        for (from, count) in e.writes.into_iter().chain([loop_registers(i)]) {
            self.registers[from.min(size)..(from + count).min(size)].fill(None);
        }
    }

    /// Returns the text of a value, if it is a constant string.
    fn text(&self, v: Value) -> Option<&[u8]> {
        let &(frame, n) = self.constants.strings.get(&self.f.origin(v))?;
        let proto = &*self.f.frames[frame].proto;
        match proto.constants[n] {
            Constant::Str(text) => Some(proto.str(text)),
            _ => None,
        }
    }

    /// Updates the facts after a call that was made while the frame was in this state.
    fn after_call(&mut self, state: State) {
        self.noise.calls += 1;
        if self.source.fault != Some(Fault::StaleMemory) {
            self.known.forget();
        }
        let mut kept = vec![None; self.registers.len()];
        for &(r, v) in &self.f.states[state].registers {
            let own = r.index().checked_sub(self.offset);
            if let Some(held) = own.and_then(|own| kept.get_mut(own)) {
                *held = Some(v);
            }
        }
        self.registers = kept;
    }

    /// Ends the block with a branch; returns new blocks for the two targets.
    fn branch(&mut self, condition: Value) -> (Block, Block) {
        let yes = self.f.blocks.push(BlockData::default());
        let no = self.f.blocks.push(BlockData::default());
        let target = |block| Target { block, args: Vec::new() };
        self.end(End::Branch(condition, target(yes), target(no)));
        (yes, no)
    }

    /// Continues in a target block of a branch.
    fn switch_to(&mut self, block: Block) {
        self.block = block;
        self.f.order.push(block);
    }

    /// Builds one instruction; returns whether control continues after it.
    fn instruction(&mut self, pc: Pc) -> bool {
        if self.source.flow.cold[pc] {
            let state = self.state();
            self.end(End::Exit(state));
            return false;
        }
        use Bytecode::*;
        let i = self.instr(pc);
        if self.is_inlined()
            && let Some((a, count)) = self.returned(i)
        {
            self.return_inlined(a, count);
            return false;
        }
        // Loads of elements and allocations speculate on less instead. Inlined functions return a
        // known number of values: constructors one, and others the extra arguments, which they know
        // without speculation.
        let has_less = matches!(i.op(), GetTable | GetI | NewTable | ForLoop)
            || matches!(i.op(), CallMeta | VarArg) && self.is_inlined();
        if !has_less && may_speculate(i.op()) && self.source.snapshot.failed.contains(&pc.as_u32())
        {
            return self.without_speculation();
        }
        match i.op() {
            Move => {
                let v = self.read(i.rb());
                self.write(i.ra(), v);
            }
            LoadI => self.set(i.ra(), Type::Is(Tag::INTEGER), Op::Integer(i.sbx())),
            LoadF => {
                let bits = (i.sbx() as f64).to_bits();
                self.set(i.ra(), Type::Is(Tag::FLOAT), Op::Float(bits));
            }
            LoadK => self.load_constant(i.ra(), i.bx()),
            LoadKX => {
                let n = self.instr(pc + 1).ax_value();
                self.load_constant(i.ra(), n);
            }
            LoadFalse => self.set_primitive(i.ra(), Tag::FALSE),
            LoadTrue => self.set_primitive(i.ra(), Tag::TRUE),
            LFalseSkip => {
                self.set_primitive(i.ra(), Tag::FALSE);
                self.goto(pc + 2);
                return false;
            }
            LoadNil => {
                for r in i.ra().range(i.b() + 1) {
                    self.set_primitive(r, Tag::NIL);
                }
            }
            GetUpval => {
                let v = self.upvalue(i.b());
                self.write(i.ra(), v);
            }
            SetUpval => {
                let v = self.read(i.ra());
                let of = self.upvalues_of();
                self.push(Op::SetUpvalue(of, i.b(), v));
                self.share(v);
                self.noise.add_upvalue();
                self.known.store_upvalue(of, i.b(), v);
            }
            GetField if self.has_handler() => return self.computed_field(),
            GetField | SelfK => self.get_field(),
            NewTable => self.new_table(),
            SetList => self.set_list(),
            Closure if !self.is_inlined() => self.closure(),
            SetField | SetFieldK if self.built.contains(&pc) => self.check_constructed(),
            SetField | SetFieldK if self.has_handler() => return self.intercepted_field(),
            SetField | SetFieldK => self.set_field(),
            GetTable | GetI if self.has_handler() => return self.computed_element(),
            GetTable | GetI => self.get_element(),
            SetTable | SetTableK | SetI | SetIK if self.has_handler() => {
                return self.intercepted_element();
            }
            SetTable | SetTableK | SetI | SetIK => self.set_element(),
            GetTabUp => self.get_global(),
            // the fast path reads the closure from the frame, which is not stored
            SetTabUp | SetTabUpK if self.is_inlined() => self.generic(),
            SetTabUp | SetTabUpK => self.fast_path(),
            Len if self.has_handler() => return self.computed_length(),
            Len => self.length(),
            Not => {
                let v = self.read(i.rb());
                match self.f.consult(v) {
                    Type::Is(tag) => {
                        let not = if tag.0 < Tag::TRUE.0 { Tag::TRUE } else { Tag::FALSE };
                        self.set_primitive(i.ra(), not);
                    }
                    _ => self.set(i.ra(), Type::Any, Op::Not(v)),
                }
            }
            Jmp => {
                self.goto(pc.jump_target(self.source.proto));
                return false;
            }
            op if is_test(op) => return self.test(),
            ForPrep => return self.for_prep(),
            ForLoop => return self.for_loop(),
            Return0 => {
                self.end(End::ReturnNone);
                return false;
            }
            Return1 => {
                let v = self.read(i.ra());
                self.end(End::Return(v));
                return false;
            }
            VarArgPrep | ExtraArg => {}
            VarArg if self.is_inlined() => self.extra_arguments(),
            VarArg => self.var_arg(),
            Call => return self.call(),
            TailCall if self.is_inlined() => {
                self.tail_call();
                return false;
            }
            TailCall if self.library_call() => {
                let v = self.read(i.ra());
                self.end(End::Return(v));
                return false;
            }
            CallMeta if i.c() != 0 || returns_class(&self.source.proto.code, pc.index()) => {
                return self.set_class();
            }
            TForCall if self.is_traversal(pc) => self.traverse(),
            TForCall => return self.call_iterator(),
            TForLoop => return self.for_each_loop(),
            TForPrep => return self.for_each_prep(),
            Close => self.close(),
            Return => {
                debug_assert!(!self.is_inlined(), "the number of returned values is known");
                return self.generic_end();
            }
            _ => match operation(self.source.proto, i) {
                Some(operation) => return self.arithmetic(operation),
                None => self.generic(),
            },
        }
        true
    }

    /// Builds an instruction at which code has exited for a reason that feedback does not show.
    fn without_speculation(&mut self) -> bool {
        let (next, jump) = self.source.flow.successors(self.source.proto, self.pc);
        if jump.is_some() || next.is_none() {
            return self.generic_end();
        }
        self.generic();
        true
    }

    /// Ends the block with an instruction that is executed by generic code.
    fn generic_end(&mut self) -> bool {
        let pc = self.pc;
        let state = self.state();
        let (next, jump) = self.source.flow.successors(self.source.proto, pc);
        let from = self.block;
        let before = (self.registers.clone(), self.tags.clone());
        let mut ways = Vec::new();
        let mut open = None;
        for (to, jumps) in [(jump, true), (next, false)] {
            let Some(to) = to else { continue };
            let way = self.f.blocks.push(BlockData::default());
            ways.push((to, Target { block: way, args: Vec::new() }));
            if jumps {
                self.switch_to(way);
                self.after_generic_end(state, jumps);
                // The jump after a test is an instruction of its own.
                self.pc = if is_test(self.instr(pc).op()) { pc + 1 } else { pc };
                self.goto(to);
                self.pc = pc;
                (self.registers, self.tags) = before.clone();
            } else {
                open = Some(way);
            }
        }
        self.f.blocks[from].end = End::Generic(state, ways);
        let Some(way) = open else { return false };
        self.switch_to(way);
        self.after_generic_end(state, false);
        if is_test(self.instr(pc).op()) {
            return self.past_jump();
        }
        true
    }

    fn after_generic_end(&mut self, state: State, jumps: bool) {
        self.after_call(state);
        self.forget();
        self.step_tags(jumps);
    }

    /// Returns the first register and the number of registers that an instruction returns, if it is
    /// a return that closes nothing and whose number of values is known.
    fn returned(&self, i: Instr) -> Option<(Reg, usize)> {
        let a = i.ra();
        match (i.op(), i.b()) {
            (Bytecode::Return0, _) => Some((a, 0)),
            (Bytecode::Return1, _) => Some((a, 1)),
            (Bytecode::Return, _) if i.c() != 0 => None,
            (Bytecode::Return, 0) => Some((a, self.open()?.end.index() - a.index())),
            (Bytecode::Return, b) => Some((a, b - 1)),
            _ => None,
        }
    }

    /// Sets a register to the result of an instruction.
    fn set(&mut self, r: Reg, ty: Type, op: Op) {
        let v = self.value(ty, op);
        self.write(r, v);
    }

    fn set_primitive(&mut self, r: Reg, tag: Tag) {
        self.set(r, Type::Is(tag), Op::Primitive(tag));
    }

    fn load_constant(&mut self, r: Reg, n: usize) {
        let v = self.constant(n);
        self.write(r, v);
    }

    /// Returns a constant of the function.
    fn constant(&mut self, n: usize) -> Value {
        let (tag, op) = match &self.source.proto.constants[n] {
            Constant::Nil => (Tag::NIL, Op::Primitive(Tag::NIL)),
            Constant::Bool(true) => (Tag::TRUE, Op::Primitive(Tag::TRUE)),
            Constant::Bool(false) => (Tag::FALSE, Op::Primitive(Tag::FALSE)),
            Constant::Integer(n) => (Tag::INTEGER, Op::Integer(*n)),
            Constant::Float(f) => (Tag::FLOAT, Op::Float(f.to_bits())),
            Constant::Str(_) => (Tag::STRING, Op::Str(n)),
        };
        self.value(Type::Is(tag), op)
    }
}

/// Returns whether the code of the instruction may contain guards. An exit before any other
/// instruction is caused by a value that is passed to its block.
fn may_speculate(op: Bytecode) -> bool {
    use Bytecode::*;
    !matches!(
        op,
        Move | LoadI
            | LoadF
            | LoadK
            | LoadKX
            | LoadFalse
            | LFalseSkip
            | LoadTrue
            | LoadNil
            | GetUpval
            | SetUpval
            | Not
            | Jmp
            | Test
            | TestSet
            | EqI
            | EqK
            | Return0
            | Return1
            | VarArgPrep
            | ExtraArg
    )
}
