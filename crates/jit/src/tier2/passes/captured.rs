//! Promotes registers to SSA values that are no longer shared with closures, because the closures
//! are not allocated.
//!
//! Variables that closures share are in their home slots, where the builder loads and stores them.
//! If no allocated closure can refer to such a register, its loads are replaced with the values
//! stored last, and the stores are removed; frame states refer to the values. Blocks get a
//! parameter for each register, and unnecessary parameters are removed by the passes
//! [`params`](super::params) and [`dce`](super::dce).
//!
//! Code that checks itself keeps the stores, and compares the values with the home slots where the
//! loads were.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::effects::effects;
use perilune_runtime::value::Tag;

use super::homes::loop_registers;
use super::params::rename;
use crate::analysis::live::Live;
use crate::entity::{Pc, Reg};
use crate::hash::HashMap;
use crate::testing::fault::Fault;
use crate::tier2::ir::{
    Block, End, Frame, FrameData, FrameState, Function, Inst, Op, State, Target, Type, Value,
};

/// Runs the pass.
pub(super) fn run(f: &mut Function, verify_values: bool, fault: Option<Fault>) {
    let registers = unshared(f);
    if registers.is_empty() {
        return;
    }
    for &r in &registers {
        f.captured.remove(r);
    }
    let predecessors = f.predecessors();
    let needed = Live::in_interpreter(&f.frames[Frame::new(0)].proto);
    let mut promoter = Promoter {
        f,
        verify_values,
        fault,
        needed,
        registers,
        predecessors,
        ends: HashMap::default(),
        states: HashMap::default(),
        replaced: SecondaryMap::new(),
        params: Vec::new(),
    };
    for n in 0..promoter.f.order.len() {
        promoter.promote_in(promoter.f.order[n]);
    }
    promoter.pass_arguments();
    let Promoter { params, replaced, .. } = promoter;
    rename(f, &replaced);
    find_types(f, &params);
    remove_guards(f);
}

/// Returns the registers to which no allocated closure can refer.
fn unshared(f: &Function) -> Vec<Reg> {
    if f.is_entered_in_loop {
        // closures that were created before the entry may refer to them
        return Vec::new();
    }
    let mut found: Vec<Reg> = f.captured.iter().collect();
    let proto = &f.frames[Frame::new(0)].proto;
    for &block in &f.order {
        for inst in &f.blocks[block].insts {
            let i = inst.pc.instr(&f.frames[inst.frame].proto);
            let is_made = matches!(inst.op, Op::Closure(..) | Op::Generic(_))
                && i.op() == Bytecode::Closure
                && inst.frame.index() == 0;
            if is_made {
                let upvalues = &proto.protos[i.bx()].upvalues;
                found.retain(|r| {
                    !upvalues.iter().any(|u| u.in_stack && r.index() == u.index.into())
                });
            }
            if let (Op::Register(r), Some(v)) = (inst.op, inst.result)
                && f.ty(v) != Type::Any
            {
                found.retain(|&other| other != r);
            }
        }
    }
    found.sort_unstable();
    found
}

/// The values of the registers, in their order. Others are in their home slots, or dead.
type Values = Vec<Option<Value>>;

/// A state before the pass, and the values of the registers there.
type StateKey = (State, Vec<(Reg, Value)>);

struct Promoter<'a> {
    f: &'a mut Function,
    verify_values: bool,
    fault: Option<Fault>,
    registers: Vec<Reg>,
    /// The blocks at the other ends of the edges to a block.
    predecessors: SecondaryMap<Block, Vec<Block>>,
    /// The values at the ends of blocks.
    ends: HashMap<Block, Values>,
    /// The registers that the interpreter needs, in the outermost function.
    needed: Live,
    states: HashMap<StateKey, State>,
    replaced: SecondaryMap<Value, Option<Value>>,
    /// The new parameters, with their blocks.
    params: Vec<(Value, Block)>,
}

impl Promoter<'_> {
    fn promote_in(&mut self, block: Block) {
        let insts = std::mem::take(&mut self.f.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        let mut current = self.at_start(block, &mut kept);
        for mut inst in insts {
            match inst.op {
                Op::Register(r) if let Some(n) = self.number_in(inst.frame, r) => {
                    let result = inst.result.expect("it has a result");
                    if let Some(v) = current[n] {
                        self.replaced[result] = current[n];
                        if !self.verify_values {
                            continue;
                        }
                        (inst.op, inst.result) = (Op::CheckRegister(r, v), None);
                    } else {
                        current[n] = Some(result);
                    }
                }
                Op::SetRegister(r, v) if let Some(n) = self.number_in(inst.frame, r) => {
                    current[n] = Some(self.resolved(v));
                    if !self.verify_values {
                        continue;
                    }
                }
                _ => {}
            }
            if let Some(state) = inst.op.state_mut() {
                *state = self.with_values(*state, &current);
            }
            kept.push(inst);
            self.follow(&inst, &mut current, &mut kept);
        }
        let mut end = std::mem::take(&mut self.f.blocks[block].end);
        if let Some(state) = end.state_mut() {
            *state = self.with_values(*state, &current);
        }
        let data = &mut self.f.blocks[block];
        (data.insts, data.end) = (kept, end);
        self.ends.insert(block, current);
    }

    /// Returns the number of a register among those that are promoted.
    fn number(&self, r: Reg) -> Option<usize> {
        self.registers.iter().position(|&other| other == r)
    }

    /// Does the same for a register that code of a frame uses. Registers from that of an inlined
    /// callee on belong to the inlined frames, and have nothing to do with variables of the
    /// outermost frame that are in the same slots at other times.
    fn number_in(&self, mut frame: Frame, r: Reg) -> Option<usize> {
        while let Some(caller) = self.f.frames[frame].caller {
            if r.index() >= self.f.frames[frame].callee()
                && self.fault != Some(Fault::ConfusedRegisters)
            {
                return None;
            }
            frame = caller.frame;
        }
        self.number(r)
    }

    /// Returns the value that replaces a load of a register, or the value itself.
    fn resolved(&self, v: Value) -> Value {
        self.replaced[v].unwrap_or(v)
    }

    /// Returns the values at the beginning of a block. Instructions that load some are added to
    /// `insts`.
    fn at_start(&mut self, block: Block, insts: &mut Vec<Inst>) -> Values {
        let from = match self.predecessors[block][..] {
            [] => {
                let params = usize::from(self.f.frames[Frame::new(0)].proto.num_params);
                let passed = self.registers.clone().into_iter();
                let load = |r: Reg| (r.index() < params).then(|| self.load(Pc::new(0), r, insts));
                return passed.map(load).collect();
            }
            [from] => from,
            _ => {
                let registers = self.registers.clone().into_iter();
                return registers.map(|r| Some(self.add_param(block, r))).collect();
            }
        };
        let mut values = self.ends[&from].clone();
        if let End::Generic(state, _) = self.f.blocks[from].end {
            let FrameState { frame, pc, .. } = self.f.states[state];
            self.follow_generic((frame, pc), &mut values, insts);
        }
        values
    }

    fn add_param(&mut self, block: Block, r: Reg) -> Value {
        let v = self.f.value(Type::Any);
        self.f.blocks[block].params.push((v, r));
        self.params.push((v, block));
        v
    }

    /// Loads a register from its home slot.
    fn load(&mut self, pc: Pc, r: Reg, insts: &mut Vec<Inst>) -> Value {
        let v = self.f.value(Type::Any);
        insts.push(Inst { pc, frame: Frame::new(0), result: Some(v), op: Op::Register(r) });
        v
    }

    /// Follows the effects of an instruction on the registers.
    fn follow(&mut self, inst: &Inst, current: &mut Values, insts: &mut Vec<Inst>) {
        match inst.op {
            Op::Generic(_) | Op::Call(_) | Op::FastPath(_) => {
                self.follow_generic((inst.frame, inst.pc), current, insts);
            }
            // the registers above the object are dead
            Op::Closure(..) | Op::NewTable(..) => {
                let a = inst.pc.instr(&self.f.frames[inst.frame].proto).a();
                self.release(self.f.frames[inst.frame].offset + a + 1, current);
            }
            // so are those from the frame on that is inlined or called
            Op::Inline(frame, _) | Op::InlineInner(frame, _) => {
                self.release(self.f.frames[frame].callee(), current);
            }
            Op::Library(library, ..) => self.release(library.at.index(), current),
            _ => {}
        }
    }

    /// Follows the execution of the bytecode instruction at `pc` on the home slots of a frame.
    fn follow_generic(
        &mut self,
        (frame, pc): (Frame, Pc),
        current: &mut Values,
        insts: &mut Vec<Inst>,
    ) {
        let FrameData { ref proto, offset, .. } = self.f.frames[frame];
        let i = pc.instr(proto);
        let e = effects(i);
        if let Some(from) = e.releases {
            self.release(offset + from, current);
        }
        if frame.index() != 0 {
            return;
        }
        for (from, count) in e.writes.into_iter().chain([loop_registers(i)]) {
            for r in Reg::new(from).range(count) {
                if let Some(n) = self.number(r) {
                    current[n] = Some(self.load(pc, r, insts));
                }
            }
        }
    }

    /// Discards the values of the registers from `from` on, which are dead, or results in home
    /// slots.
    fn release(&self, from: usize, current: &mut Values) {
        for (&r, value) in self.registers.iter().zip(current) {
            if r.index() >= from {
                *value = None;
            }
        }
    }

    /// Returns the state with the values of the registers that are needed there.
    fn with_values(&mut self, state: State, current: &Values) -> State {
        let values = self.registers.iter().zip(current);
        let values =
            values.filter_map(|(&r, &v)| Some((r, v.filter(|_| self.is_needed(state, r))?)));
        let key = (state, values.collect::<Vec<_>>());
        if let Some(&known) = self.states.get(&key) {
            return known;
        }
        let old = &self.f.states[state];
        let registers = old.registers.iter().map(|&(r, v)| (r, self.resolved(v)));
        let new = FrameState {
            virtuals: old.virtuals.clone(),
            closures: old.closures.clone(),
            ..FrameState::new(old.frame, old.pc, registers.chain(key.1.iter().copied()).collect())
        };
        let new = self.f.states.push(new);
        self.states.insert(key, new);
        new
    }

    /// Returns whether a register of the outermost frame is needed when the frames continue in a
    /// state: by that frame, or by a closure that is created at the exit.
    fn is_needed(&self, state: State, r: Reg) -> bool {
        let FrameState { mut frame, mut pc, ref closures, .. } = self.f.states[state];
        while let Some(caller) = self.f.frames[frame].caller {
            let called = self.f.frames[frame].callee();
            let FrameData { offset, ref proto, .. } = self.f.frames[caller.frame];
            // a metamethod runs above all registers, which are as before the instruction
            let is_handler = called >= offset + usize::from(proto.max_stack);
            pc = if is_handler { caller.pc - 1 } else { caller.pc };
            if r.index() >= called {
                return false;
            }
            frame = caller.frame;
        }
        let inner = &self.f.frames[Frame::new(0)].proto.protos;
        let mut shared = closures.iter().flat_map(|closure| &inner[closure.inner].upvalues);
        self.needed.is_live(pc, r)
            || shared.any(|u| u.in_stack && usize::from(u.index) == r.index())
    }

    /// Returns a value for a register that is dead at the end of a block.
    fn dead(&mut self, block: Block) -> Value {
        let v = self.f.value(Type::Is(Tag::NIL));
        let (pc, frame) = (Pc::new(0), Frame::new(0));
        let inst = Inst { pc, frame, result: Some(v), op: Op::Primitive(Tag::NIL) };
        self.f.blocks[block].insts.insert(0, inst);
        v
    }

    /// Passes the arguments for the new parameters.
    fn pass_arguments(&mut self) {
        for n in 0..self.f.order.len() {
            let block = self.f.order[n];
            let is_only = |target: &Target| self.predecessors[target.block].len() == 1;
            if self.f.blocks[block].end.targets().all(is_only) {
                continue;
            }
            let values = self.ends.remove(&block).expect("the block was visited").into_iter();
            let values: Vec<Value> =
                values.map(|v| v.unwrap_or_else(|| self.dead(block))).collect();
            for target in self.f.blocks[block].end.targets_mut() {
                if self.predecessors[target.block].len() > 1 {
                    target.args.extend(&values);
                }
            }
        }
    }
}

/// Removes the guards of values whose types are now known.
fn remove_guards(f: &mut Function) {
    let mut replaced: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    for n in 0..f.order.len() {
        let block = f.order[n];
        let Function { blocks, values, .. } = f;
        blocks[block].insts.retain(|inst| match (inst.op, inst.result) {
            (Op::Guard(v, tag, _) | Op::Speculate(v, tag, _), Some(guarded)) => {
                let holds = values[v].ty == Type::Is(tag);
                if holds {
                    replaced[guarded] = Some(v);
                }
                !holds
            }
            _ => true,
        });
    }
    rename(f, &replaced);
}

/// Finds the types of new parameters: a parameter has the type that all its arguments have, which
/// may be other new parameters.
fn find_types(f: &mut Function, params: &[(Value, Block)]) {
    let mut types: HashMap<Value, Option<Type>> = HashMap::default();
    types.extend(params.iter().map(|&(v, _)| (v, None)));
    let mut changed = true;
    while changed {
        changed = false;
        for &(param, block) in params {
            let n = f.blocks[block].params.iter().position(|&(v, _)| v == param);
            let n = n.expect("it is a parameter of the block");
            let targets = f.order.iter().flat_map(|&from| f.blocks[from].end.targets());
            let args = targets.filter(|target| target.block == block).map(|target| target.args[n]);
            let known = args.filter_map(|arg| match types.get(&arg) {
                Some(&ty) => ty,
                None => Some(f.ty(arg)),
            });
            let joined = known.reduce(Type::join);
            if types[&param] != joined {
                types.insert(param, joined);
                changed = true;
            }
        }
    }
    for (param, ty) in types {
        f.values[param].ty = ty.unwrap_or(Type::Any);
    }
}
