//! What the home slots of registers hold where blocks begin, so that nothing is stored that is
//! there already.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::effects::effects;
use perilune_runtime::frame::Frame as Layout;

use crate::entity::{Pc, Reg};
use crate::tier2::ir::{Block, End, Frame, FrameData, Function, Inst, Op, State, Target, Value};

/// What home slots hold: values as they were before guards.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Homes(Vec<Option<Value>>);

impl Homes {
    fn new(size: usize) -> Homes {
        Homes(vec![None; size])
    }

    /// Returns what the home slot of a register holds, if that is known.
    pub(crate) fn get(&self, r: Reg) -> Option<Value> {
        self.0[r.index()]
    }

    /// Returns a register whose home slot holds a value.
    pub(crate) fn find(&self, v: Value) -> Option<Reg> {
        self.0.iter().position(|held| *held == Some(v)).map(Reg::new)
    }

    /// The registers of a state are stored.
    pub(crate) fn store(&mut self, f: &Function, state: State) {
        self.forget_headers(f, state);
        for &(r, v) in &f.states[state].registers {
            self.0[r.index()] = Some(f.origin(v));
        }
    }

    /// The registers of a state are stored on one way and not on another: a slot that held
    /// something else holds either.
    fn may_store(&mut self, f: &Function, state: State) {
        self.forget_headers(f, state);
        for &(r, v) in &f.states[state].registers {
            let held = &mut self.0[r.index()];
            if *held != Some(f.origin(v)) {
                *held = None;
            }
        }
    }

    /// The headers of the frames of a state are stored, or may be.
    fn forget_headers(&mut self, f: &Function, state: State) {
        let mut frame = f.states[state].frame;
        while let Some(caller) = f.frames[frame].caller {
            self.0[f.frames[frame].offset - 1] = None;
            frame = caller.frame;
        }
    }

    /// Follows an instruction.
    pub(crate) fn step(&mut self, f: &Function, inst: &Inst) {
        match inst.op {
            Op::Register(r) if f.captured.contains(r) => {}
            Op::Register(r) => self.0[r.index()] = inst.result,
            Op::SetRegister(r, _) => self.0[r.index()] = None,
            // the self-check stores the closure
            Op::Inline(frame, _) => self.0[f.frames[frame].offset - Layout::RESERVED] = None,
            Op::Poll(state, _) => self.may_store(f, state),
            // arguments are stored where the function is called
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
            Op::FastPath(_) => self.clobber(f, inst.frame, inst.pc),
            Op::Generic(state) | Op::Call(state) => {
                self.store(f, state);
                self.clobber(f, inst.frame, inst.pc);
            }
            _ => {}
        }
    }

    /// Follows the end of a block.
    pub(crate) fn step_end(&mut self, f: &Function, end: &End) {
        if let End::Generic(state, _) = end {
            self.store(f, *state);
            self.clobber(f, f.states[*state].frame, f.states[*state].pc);
        }
    }

    /// The instruction at `pc` was executed on home slots of a frame.
    fn clobber(&mut self, f: &Function, frame: Frame, pc: Pc) {
        let FrameData { proto, offset, .. } = &f.frames[frame];
        let homes = &mut self.0[*offset..];
        let size = homes.len();
        let i = pc.instr(proto);
        let e = effects(i);
        for (from, count) in e.writes.into_iter().chain([loop_registers(i)]) {
            homes[from.min(size)..(from + count).min(size)].fill(None);
        }
        if let Some(from) = e.releases {
            homes[from.min(size)..].fill(None);
        }
    }

    /// Returns what is held at the beginning of the block that a target names.
    fn passed(&self, f: &Function, target: &Target) -> Homes {
        let mut homes = self.clone();
        let params = &f.blocks[target.block].params;
        // a slot that holds what a parameter was in the round before does not hold what it is now
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

/// The registers that a loop or a test writes besides its effects, on one of its ways or as the
/// position of a traversal: first and count.
pub(crate) fn loop_registers(i: perilune_bytecode::Instr) -> (usize, usize) {
    match i.op() {
        Bytecode::ForPrep | Bytecode::ForLoop => (i.a(), 4),
        Bytecode::TForPrep | Bytecode::TForLoop => (i.a() + 2, 2),
        Bytecode::TForCall => (i.a() + 3, 1),
        Bytecode::TestSet => (i.a(), 1),
        _ => (0, 0),
    }
}

/// Returns what home slots hold where blocks begin.
pub(crate) fn analyse(f: &Function) -> SecondaryMap<Block, Option<Homes>> {
    // those above the ones that have names are used by calls
    let ends = f.frames.values().map(|frame| frame.offset + usize::from(frame.proto.max_stack));
    let registers = ends.max().expect("there is a frame") + 16;
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
