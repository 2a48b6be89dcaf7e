//! What the home slots of registers hold where blocks begin, so that nothing is stored that is
//! there already.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Op as Bytecode, Proto};

use crate::entity::{Pc, Reg};
use crate::tier2::ir::{Block, End, Function, Inst, Op, State, Target, Value};

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
        for &(r, v) in &f.states[state].registers {
            self.0[r.index()] = Some(f.origin(v));
        }
    }

    /// The registers of a state are stored on one way and not on another: a slot that held
    /// something else holds either.
    fn may_store(&mut self, f: &Function, state: State) {
        for &(r, v) in &f.states[state].registers {
            let held = &mut self.0[r.index()];
            if *held != Some(f.origin(v)) {
                *held = None;
            }
        }
    }

    /// Follows an instruction.
    pub(crate) fn step(&mut self, f: &Function, proto: &Proto, inst: &Inst) {
        match inst.op {
            Op::Register(r) if f.captured.contains(r) => {}
            Op::Register(r) => self.0[r.index()] = inst.result,
            Op::SetRegister(r, _) => self.0[r.index()] = None,
            Op::Poll(state) => self.may_store(f, state),
            // the runtime stores the result, where it executes the instruction
            Op::Global(state) => {
                self.may_store(f, state);
                self.clobber(proto, inst.pc);
            }
            Op::Generic(state) => {
                self.store(f, state);
                self.clobber(proto, inst.pc);
            }
            _ => {}
        }
    }

    /// Follows the end of a block.
    pub(crate) fn step_end(&mut self, f: &Function, proto: &Proto, end: &End) {
        if let End::Generic(state, _) = end {
            self.store(f, *state);
            self.clobber(proto, f.states[*state].pc);
        }
    }

    /// The instruction at `pc` was executed on home slots.
    fn clobber(&mut self, proto: &Proto, pc: Pc) {
        let size = self.0.len();
        let i = pc.instr(proto);
        let e = effects(i);
        for (from, count) in e.writes.into_iter().chain([loop_registers(i)]) {
            self.0[from.min(size)..(from + count).min(size)].fill(None);
        }
        if let Some(from) = e.releases {
            self.0[from.min(size)..].fill(None);
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
pub(crate) fn analyse(
    f: &Function,
    proto: &Proto,
    registers: usize,
) -> SecondaryMap<Block, Option<Homes>> {
    let mut at: SecondaryMap<Block, Option<Homes>> = SecondaryMap::new();
    at[f.order[0]] = Some(Homes::new(registers));
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &f.order {
            let Some(mut homes) = at[block].clone() else { continue };
            let data = &f.blocks[block];
            for inst in &data.insts {
                homes.step(f, proto, inst);
            }
            homes.step_end(f, proto, &data.end);
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
