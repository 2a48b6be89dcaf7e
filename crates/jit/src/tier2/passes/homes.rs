//! Determines the contents of home slots at the beginning of blocks, so that values that are
//! already there are not stored again.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::effects::effects;
use perilune_runtime::frame::Frame as Layout;

use crate::entity::{Pc, Reg};
use crate::tier2::ir::{Block, End, Frame, FrameData, Function, Inst, Op, State, Target, Value};

/// The contents of home slots, as the values before guards.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Homes(Vec<Option<Value>>);

impl Homes {
    fn new(size: usize) -> Homes {
        Homes(vec![None; size])
    }

    /// Returns the content of the home slot of a register, if it is known.
    pub(crate) fn get(&self, r: Reg) -> Option<Value> {
        self.0[r.index()]
    }

    /// Returns a register whose home slot holds a value.
    pub(crate) fn find(&self, v: Value) -> Option<Reg> {
        self.0.iter().position(|held| *held == Some(v)).map(Reg::new)
    }

    /// Updates the contents after the registers of a state were stored.
    pub(crate) fn store(&mut self, f: &Function, state: State) {
        self.forget_headers(f, state);
        for &(r, v) in &f.states[state].registers {
            self.0[r.index()] = Some(f.origin(v));
        }
    }

    /// Updates the contents after code that may have stored the registers of a state: a slot that
    /// held another value may hold either.
    fn may_store(&mut self, f: &Function, state: State) {
        self.forget_headers(f, state);
        for &(r, v) in &f.states[state].registers {
            let held = &mut self.0[r.index()];
            if *held != Some(f.origin(v)) {
                *held = None;
            }
        }
        for table in &f.states[state].virtuals {
            table.registers.iter().for_each(|r| self.0[r.index()] = None);
        }
        for closure in &f.states[state].closures {
            closure.registers.iter().for_each(|r| self.0[r.index()] = None);
        }
    }

    /// Updates the contents after a poll in this state. The collector clears the slots above the
    /// frame.
    fn poll(&mut self, f: &Function, state: State) {
        self.may_store(f, state);
        let FrameData { proto, offset, .. } = &f.frames[f.states[state].frame];
        self.0[offset + usize::from(proto.max_stack)..].fill(None);
    }

    /// Discards the contents of the slots for the headers of the frames of a state, which may be
    /// stored.
    fn forget_headers(&mut self, f: &Function, state: State) {
        let mut frame = f.states[state].frame;
        while let Some(caller) = f.frames[frame].caller {
            self.0[f.frames[frame].offset - 1] = None;
            frame = caller.frame;
        }
    }

    /// Updates the contents after an instruction.
    pub(crate) fn step(&mut self, f: &Function, inst: &Inst) {
        match inst.op {
            Op::Register(r) if f.captured.contains(r) => {}
            Op::Register(r) => self.0[r.index()] = inst.result,
            Op::SetRegister(r, _) => self.0[r.index()] = None,
            // the self-check stores the closure
            Op::Inline(frame, _) => self.0[f.frames[frame].offset - Layout::RESERVED] = None,
            Op::Poll(state, _) => self.poll(f, state),
            Op::Allocate(state) => self.may_store(f, state),
            // the runtime stores the position
            Op::Traversal(_, state) => {
                self.may_store(f, state);
                self.clobber(f, inst.frame, inst.pc);
            }
            // arguments are stored if the function is called
            Op::Library(library, args, _) => {
                let first = library.at.index() + Layout::RESERVED;
                for (held, &arg) in self.0[first..].iter_mut().zip(args.iter().flatten()) {
                    let arg = Some(f.origin(arg));
                    match library.inlined {
                        Some(_) if *held != arg => *held = None,
                        _ => *held = arg,
                    }
                }
            }
            Op::NewTable(_, state) | Op::Closure(_, state) => {
                // the collector clears the registers above the object
                self.may_store(f, state);
                let first = register_above(f, inst, 0);
                self.0[first..].fill(None);
            }
            // the items are stored if the runtime stores the list
            Op::SetList(_, list, ..) => {
                let first = register_above(f, inst, 1);
                for (held, &v) in self.0[first..].iter_mut().zip(&f.lists[list]) {
                    if *held != Some(f.origin(v)) {
                        *held = None;
                    }
                }
            }
            Op::FastPath(state) => {
                // a traversal stores its registers before it calls the runtime
                if inst.pc.instr(&f.frames[inst.frame].proto).op() == Bytecode::TForCall {
                    self.may_store(f, state);
                }
                self.clobber(f, inst.frame, inst.pc);
            }
            Op::Generic(state) | Op::Call(state) => {
                self.store(f, state);
                self.clobber(f, inst.frame, inst.pc);
            }
            _ => {}
        }
    }

    /// Updates the contents after the end of a block.
    pub(crate) fn step_end(&mut self, f: &Function, end: &End) {
        if let End::Generic(state, _) = end {
            self.store(f, *state);
            self.clobber(f, f.states[*state].frame, f.states[*state].pc);
        }
    }

    /// Updates the contents after the instruction at `pc` was executed on the home slots of a
    /// frame.
    fn clobber(&mut self, f: &Function, frame: Frame, pc: Pc) {
        let FrameData { proto, offset, .. } = &f.frames[frame];
        let homes = &mut self.0[*offset..];
        let size = homes.len();
        let i = pc.instr(proto);
        let e = effects(i);
        for (from, count) in e.writes.into_iter().chain([loop_registers(i)]) {
            homes[from.min(size)..(from + count).min(size)].fill(None);
        }
        // metamethods run above all registers
        let from = e.releases.unwrap_or(proto.max_stack.into());
        homes[from.min(size)..].fill(None);
    }

    /// Returns the contents at the beginning of the target's block.
    fn passed(&self, f: &Function, target: &Target) -> Homes {
        let mut homes = self.clone();
        let params = &f.blocks[target.block].params;
        // a slot with a parameter's value of the previous iteration does not hold its new value
        let is_param = |v: &Value| params.iter().any(|(param, _)| param == v);
        for held in homes.0.iter_mut().filter(|held| held.as_ref().is_some_and(is_param)) {
            *held = None;
        }
        for (&(param, r), &arg) in params.iter().zip(&target.args) {
            if self.0[r.index()] == Some(f.origin(arg)) {
                homes.0[r.index()] = Some(param);
            }
        }
        homes
    }

    fn meet(&mut self, other: &Homes) -> bool {
        let mut changed = false;
        for (held, other) in self.0.iter_mut().zip(&other.0) {
            if held.is_some() && held != other {
                *held = None;
                changed = true;
            }
        }
        changed
    }
}

/// Returns the number of the register `n` above register A of an instruction.
fn register_above(f: &Function, inst: &Inst, n: usize) -> usize {
    let FrameData { proto, offset, .. } = &f.frames[inst.frame];
    offset + inst.pc.instr(proto).a() + n
}

/// Returns the registers, as first and count, that a loop or test instruction writes besides its
/// effects: on one of its branches, or as the position of a traversal.
pub(crate) fn loop_registers(i: perilune_bytecode::Instr) -> (usize, usize) {
    match i.op() {
        Bytecode::ForPrep | Bytecode::ForLoop => (i.a(), 4),
        Bytecode::TForPrep | Bytecode::TForLoop => (i.a() + 2, 2),
        Bytecode::TForCall => (i.a() + 3, 1),
        Bytecode::TestSet => (i.a(), 1),
        _ => (0, 0),
    }
}

/// Returns the number of slots of all frames. Calls use slots above those of registers.
pub(crate) fn slots(f: &Function) -> usize {
    let ends = f.frames.values().map(|frame| frame.offset + frame.size);
    ends.max().expect("there is a frame") + 16
}

/// Returns the contents of home slots at the beginning of each block.
pub(crate) fn analyse(f: &Function) -> SecondaryMap<Block, Option<Homes>> {
    let registers = slots(f);
    let mut at: SecondaryMap<Block, Option<Homes>> = SecondaryMap::new();
    at[f.order[0]] = Some(Homes::new(registers));
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &f.order {
            let Some(mut homes) = at[block].clone() else { continue };
            let data = &f.blocks[block];
            for inst in &data.insts {
                homes.step(f, inst);
            }
            homes.step_end(f, &data.end);
            for target in data.end.targets() {
                let passed = homes.passed(f, target);
                match &mut at[target.block] {
                    Some(known) => changed |= known.meet(&passed),
                    unknown => {
                        *unknown = Some(passed);
                        changed = true;
                    }
                }
            }
        }
    }
    at
}
