//! Removes the allocation of closures that no other code can see.
//!
//! A closure that is used only by inlined calls need not be allocated: the upvalues of its function
//! are registers, or upvalues, of the function that creates it. At exits, the frame state specifies
//! which registers hold the closure ([`VirtualClosure`]), and the runtime creates it.
//!
//! Only closures of the outermost function are considered, since functions whose variables are
//! shared with closures are not inlined.

use cranelift_codegen::entity::{EntityRef, EntitySet};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Instr, Op as Bytecode, Proto, UpvalDesc};
use perilune_runtime::tier::INLINED_SLOTS;

use super::homes;
use crate::entity::{Pc, Reg};
use crate::tier2::ir::{
    Block, End, Frame, FrameState, Function, Inst, Op, State, Value, VirtualClosure,
};

/// An allocation of a closure.
struct Closure {
    value: Value,
    /// The number of its function among the inner functions.
    inner: usize,
    block: Block,
    pc: Pc,
}

/// Runs the pass; returns whether it has changed the function.
pub(super) fn run(f: &mut Function) -> bool {
    let mut closures = find(f);
    if closures.is_empty() {
        return false;
    }
    closures.retain(|closure| !escapes(f, closure));
    if closures.is_empty() || !have_room(f, &closures) {
        return false;
    }
    let mut replacer = Replacer { f, closures: &closures, states: Vec::new() };
    replacer.run();
    true
}

/// Returns the function that creates the closures.
fn maker(f: &Function) -> &Proto {
    &f.frames[Frame::new(0)].proto
}

/// Finds the closures that the function creates.
fn find(f: &Function) -> Vec<Closure> {
    let mut found = Vec::new();
    for &block in &f.order {
        for inst in &f.blocks[block].insts {
            if let (Op::Closure(inner, _), Some(value)) = (inst.op, inst.result) {
                found.push(Closure { value, inner, block, pc: inst.pc });
            }
        }
    }
    found
}

/// Returns whether code may see a closure, or use it after a variable that it shares was closed.
fn escapes(f: &Function, closure: &Closure) -> bool {
    f.order.iter().any(|&block| {
        let data = &f.blocks[block];
        data.insts.iter().any(|inst| sees(f, inst, closure))
            || data.end.arg() == Some(closure.value)
            || data.end.targets().any(|target| target.args.contains(&closure.value))
            || sees_at_end(f, &data.end, closure)
    }) || is_used_after_close(f, closure)
}

/// Returns whether an instruction uses a closure other than to access its upvalues or to run its
/// function inline.
fn sees(f: &Function, inst: &Inst, closure: &Closure) -> bool {
    let value = closure.value;
    let upvalues = &maker(f).protos[closure.inner].upvalues;
    let is_known = match inst.op {
        Op::Inline(frame, _) => is_inner(f, frame, closure),
        Op::Upvalue(..) => true,
        Op::SetUpvalue(_, _, stored) | Op::CheckUpvalue(_, _, stored) => stored != value,
        Op::Global(of, n, ..) => of == Some(value) && !upvalues[n].in_stack,
        _ => false,
    };
    if !is_known && f.args(&inst.op).any(|v| v == value) {
        return true;
    }
    let Some(state) = inst.op.state() else { return false };
    let i = inst.pc.instr(&f.frames[inst.frame].proto);
    match inst.op {
        Op::Generic(_) => may_see_in(f, state, i, closure),
        Op::Call(_) => !registers_of(f, state, value).is_empty(),
        Op::FastPath(_) => is_read(f, state, i, value) || is_in_table(f, state, value),
        _ => is_in_table(f, state, value),
    }
}

/// As [`sees`], for the end of a block.
fn sees_at_end(f: &Function, end: &End, closure: &Closure) -> bool {
    match *end {
        End::Generic(state, _) => {
            let FrameState { frame, pc, .. } = f.states[state];
            may_see_in(f, state, pc.instr(&f.frames[frame].proto), closure)
        }
        End::Exit(state) => is_in_table(f, state, closure.value),
        _ => false,
    }
}

/// Returns whether generic code that executes an instruction in a state may see a closure. An
/// instruction that closes variables reads no other registers, and makes no calls if there are no
/// to-be-closed variables.
fn may_see_in(f: &Function, state: State, i: Instr, closure: &Closure) -> bool {
    let closes = matches!(i.op(), Bytecode::Close | Bytecode::Return)
        && f.states[state].frame.index() == 0
        && !maker(f).code.iter().any(|i| matches!(i.op(), Bytecode::Tbc | Bytecode::TForPrep));
    match closes {
        true => is_read(f, state, i, closure.value) || is_in_table(f, state, closure.value),
        false => f.states[state].values().any(|v| v == closure.value),
    }
}

/// Returns whether an inlined frame is that of a closure.
fn is_inner(f: &Function, frame: Frame, closure: &Closure) -> bool {
    std::ptr::eq(&*f.frames[frame].proto, &*maker(f).protos[closure.inner])
}

/// Returns whether an instruction reads a register that holds a value in a state.
fn is_read(f: &Function, state: State, i: Instr, v: Value) -> bool {
    let offset = f.frames[f.states[state].frame].offset;
    let reads = effects(i).reads;
    registers_of(f, state, v).iter().filter_map(|r| r.index().checked_sub(offset)).any(|r| {
        let open = i.op() == Bytecode::Return && i.b() == 0 && r >= i.a();
        open || reads.iter().any(|&(from, count)| (from..from + count).contains(&r))
    })
}

/// Returns the registers that hold a value in a state.
fn registers_of(f: &Function, state: State, v: Value) -> Vec<Reg> {
    let registers = f.states[state].registers.iter();
    registers.filter(|&&(_, held)| held == v).map(|&(r, _)| r).collect()
}

/// Returns whether a virtual table of a state has a value as a field.
fn is_in_table(f: &Function, state: State, v: Value) -> bool {
    f.states[state].virtuals.iter().any(|table| table.values().any(|held| held == v))
}

/// Returns whether a closure may be used after a CLOSE of a register that it shares, without being
/// created again.
fn is_used_after_close(f: &Function, closure: &Closure) -> bool {
    let upvalues = &maker(f).protos[closure.inner].upvalues;
    let Some(last) = upvalues.iter().filter(|u| u.in_stack).map(|u| u.index).max() else {
        return false;
    };
    let closes = |inst: &Inst| {
        let i = inst.pc.instr(&f.frames[inst.frame].proto);
        inst.frame.index() == 0
            && matches!(inst.op, Op::Generic(_))
            && i.op() == Bytecode::Close
            && i.a() <= last.into()
    };
    let mut reached = EntitySet::new();
    let mut todo = Vec::new();
    for &block in &f.order {
        let data = &f.blocks[block];
        // whether a variable has been closed and the closure has not been created again since
        let mut is_closed = false;
        for inst in &data.insts {
            if is_closed && uses(f, inst, closure.value) {
                return true;
            }
            is_closed = (is_closed || closes(inst)) && inst.result != Some(closure.value);
        }
        if is_closed && ends_with(f, block, closure) {
            return true;
        }
        if is_closed {
            todo.extend(data.end.targets().map(|target| target.block));
        }
    }
    while let Some(block) = todo.pop() {
        if block == closure.block || !reached.insert(block) {
            continue;
        }
        let data = &f.blocks[block];
        if data.insts.iter().any(|inst| uses(f, inst, closure.value))
            || ends_with(f, block, closure)
        {
            return true;
        }
        todo.extend(data.end.targets().map(|target| target.block));
    }
    false
}

/// Returns whether an instruction uses a value, directly or in its state.
fn uses(f: &Function, inst: &Inst, v: Value) -> bool {
    f.args(&inst.op).any(|arg| arg == v) || inst.op.state().is_some_and(|state| names(f, state, v))
}

/// Returns whether the state of the end of a block refers to a closure.
fn ends_with(f: &Function, block: Block, closure: &Closure) -> bool {
    f.blocks[block].end.state().is_some_and(|state| names(f, state, closure.value))
}

fn names(f: &Function, state: State, v: Value) -> bool {
    f.states[state].values().any(|held| held == v)
}

/// Returns whether the descriptions of all states fit into the slots above the frames.
fn have_room(f: &Function, closures: &[Closure]) -> bool {
    let outermost = usize::from(maker(f).max_stack);
    let room = (outermost + INLINED_SLOTS).saturating_sub(homes::slots(f));
    let size = |state: State| {
        let of_one = |closure: &Closure| match registers_of(f, state, closure.value).len() {
            0 => 0,
            registers => VirtualClosure::size(registers),
        };
        1 + closures.iter().map(of_one).sum::<usize>()
    };
    f.states.keys().all(|state| size(state) <= room)
}

/// Replaces the uses of closures.
struct Replacer<'a> {
    f: &'a mut Function,
    closures: &'a [Closure],
    /// The states that have changed, and whether generic code uses them, before and after.
    states: Vec<((State, bool), State)>,
}

impl Replacer<'_> {
    fn run(&mut self) {
        for n in 0..self.f.order.len() {
            let block = self.f.order[n];
            let mut insts = std::mem::take(&mut self.f.blocks[block].insts);
            for inst in &mut insts {
                self.replace(inst);
                let is_generic = matches!(inst.op, Op::Generic(_));
                if let Some(state) = inst.op.state_mut()
                    && let Some(changed) = self.with_virtuals(*state, is_generic)
                {
                    *state = changed;
                    if let Op::Poll(_, is_quiet) = &mut inst.op {
                        // other code may change the shared variables of a closure that has been
                        // allocated for it
                        *is_quiet = true;
                    }
                }
            }
            let mut end = std::mem::take(&mut self.f.blocks[block].end);
            let is_generic = matches!(end, End::Generic(..));
            if let Some(state) = end.state_mut()
                && let Some(changed) = self.with_virtuals(*state, is_generic)
            {
                *state = changed;
            }
            let data = &mut self.f.blocks[block];
            (data.insts, data.end) = (insts, end);
        }
    }

    fn closure(&self, v: Value) -> Option<&Closure> {
        self.closures.iter().find(|closure| closure.value == v)
    }

    /// Returns the description of an upvalue of a closure in the function that creates it, and the
    /// position of the creation.
    fn upvalue(&self, v: Value, n: usize) -> Option<(UpvalDesc, Pc)> {
        let closure = self.closure(v)?;
        Some((maker(self.f).protos[closure.inner].upvalues[n], closure.pc))
    }

    fn replace(&self, inst: &mut Inst) {
        match inst.op {
            Op::Closure(inner, state) if inst.result.is_some_and(|v| self.closure(v).is_some()) => {
                (inst.op, inst.result) = (Op::GuardInner(inner, state), None);
            }
            Op::Inline(frame, v) => {
                if let Some(closure) = self.closure(v) {
                    inst.op = Op::InlineInner(frame, closure.inner);
                }
            }
            Op::Upvalue(Some(v), n) => {
                if let Some((desc, pc)) = self.upvalue(v, n) {
                    let index = usize::from(desc.index);
                    let op = match desc.in_stack {
                        true => Op::Register(Reg::new(index)),
                        false => Op::Upvalue(None, index),
                    };
                    *inst = Inst { pc, frame: Frame::new(0), op, ..*inst };
                }
            }
            Op::SetUpvalue(Some(v), n, stored) => {
                if let Some((desc, pc)) = self.upvalue(v, n) {
                    let index = usize::from(desc.index);
                    let op = match desc.in_stack {
                        true => Op::SetRegister(Reg::new(index), stored),
                        false => Op::SetUpvalue(None, index, stored),
                    };
                    *inst = Inst { pc, frame: Frame::new(0), op, ..*inst };
                }
            }
            Op::CheckUpvalue(Some(v), n, known) => {
                if let Some((desc, pc)) = self.upvalue(v, n) {
                    let index = usize::from(desc.index);
                    let op = match desc.in_stack {
                        true => Op::CheckRegister(Reg::new(index), known),
                        false => Op::CheckUpvalue(None, index, known),
                    };
                    *inst = Inst { pc, frame: Frame::new(0), op, ..*inst };
                }
            }
            Op::Global(Some(v), n, access, state) => {
                if let Some((desc, _)) = self.upvalue(v, n) {
                    inst.op = Op::Global(None, desc.index.into(), access, state);
                }
            }
            _ => {}
        }
    }

    /// Returns the state with its closures described as virtual, or omitted if generic code uses
    /// the state; `None` if it refers to none of them.
    fn with_virtuals(&mut self, state: State, is_generic: bool) -> Option<State> {
        let key = (state, is_generic);
        if let Some(&(_, known)) = self.states.iter().find(|&&(before, _)| before == key) {
            return Some(known);
        }
        let old = &self.f.states[state];
        let mut found: Vec<VirtualClosure> = Vec::new();
        for closure in self.closures {
            let registers = registers_of(self.f, state, closure.value);
            if !registers.is_empty() {
                found.push(VirtualClosure { registers, inner: closure.inner });
            }
        }
        if found.is_empty() {
            return None;
        }
        let registers = old.registers.iter().copied();
        let registers = registers.filter(|&(_, v)| self.closure(v).is_none()).collect();
        let new = FrameState {
            virtuals: old.virtuals.clone(),
            closures: if is_generic { Vec::new() } else { found },
            ..FrameState::new(old.frame, old.pc, registers)
        };
        let new = self.f.states.push(new);
        self.states.push((key, new));
        Some(new)
    }
}
