//! What registers hold on every path: a forward analysis to a fixed point.

use super::shape::{self, Next};
use super::{Result, ensure};
use crate::effects::{Range, effects};
use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::Proto;

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Registers([u64; 4]);

impl Registers {
    /// Registers `first .. first + count`, those above 255 left out.
    fn range((first, count): Range) -> Registers {
        Registers::from(first).minus(Registers::from(first + count))
    }

    /// All registers from `first` on.
    fn from(first: usize) -> Registers {
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate() {
            *word = match first.saturating_sub(i * 64) {
                n if n < 64 => u64::MAX << n,
                _ => 0,
            };
        }
        Registers(words)
    }

    fn zip(self, other: Registers, f: fn(u64, u64) -> u64) -> Registers {
        Registers(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    fn and(self, other: Registers) -> Registers {
        self.zip(other, |a, b| a & b)
    }

    fn or(self, other: Registers) -> Registers {
        self.zip(other, |a, b| a | b)
    }

    fn minus(self, other: Registers) -> Registers {
        self.zip(other, |a, b| a & !b)
    }

    fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    fn contains(self, other: Registers) -> bool {
        other.minus(self).is_empty()
    }
}

/// What is known before an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    /// Written on every path.
    assigned: Registers,
    /// May have an open upvalue, or be pending to be closed.
    open: Registers,
    /// May be pending to be closed.
    closing: Registers,
}

impl State {
    fn join(self, other: State) -> State {
        State {
            assigned: self.assigned.and(other.assigned),
            open: self.open.or(other.open),
            closing: self.closing.or(other.closing),
        }
    }
}

pub(super) fn check(proto: &Proto) -> Result {
    let code = &proto.code[..];
    // States are kept where control may come from more than one place.
    let mut joins: Vec<Option<State>> = vec![None; code.len()];
    let mut is_join = vec![false; code.len()];
    for pc in 0..code.len() {
        if let Next::Goes(target) | Next::Branches(target) = shape::next(code, pc) {
            is_join[target] = true;
        }
    }
    let entry = State {
        assigned: Registers::range((0, proto.num_params as usize)),
        open: Registers::default(),
        closing: Registers::default(),
    };
    let mut work = vec![(0, entry)];
    let mut edges = Vec::new();
    while let Some((mut pc, mut state)) = work.pop() {
        // Follow straight-line code until a known state stops it.
        loop {
            if is_join[pc] {
                let joined = match joins[pc] {
                    Some(known) => {
                        let joined = known.join(state);
                        if joined == known {
                            break;
                        }
                        joined
                    }
                    None => state,
                };
                joins[pc] = Some(joined);
                state = joined;
            }
            edges.clear();
            step(proto, pc, state, &mut edges)?;
            let Some(&(next_pc, next_state)) = edges.first() else { break };
            work.extend(edges.drain(1..));
            (pc, state) = (next_pc, next_state);
        }
    }
    Ok(())
}

/// Checks the instruction at `pc` in `state`, and lists where control goes then, in which state.
fn step(proto: &Proto, pc: usize, state: State, edges: &mut Vec<(usize, State)>) -> Result {
    let code = &proto.code[..];
    let instr = code[pc];
    let (a, c) = (instr.a(), instr.c());
    let e = effects(instr);
    let mut after = state;
    for range in e.reads {
        let read = Registers::range(range);
        ensure(state.assigned.contains(read), pc, "register read before it is written")?;
    }
    if shape::is_consumer(instr) && !multiple_value_is_whole(code, pc, state) {
        return ensure(false, pc, "register read before it is written");
    }
    if let Some(from) = e.releases {
        let released = Registers::from(from);
        ensure(state.open.and(released).is_empty(), pc, "a captured register is released")?;
        after.assigned = after.assigned.minus(released);
    }
    for range in e.writes {
        after.assigned = after.assigned.or(Registers::range(range));
    }
    match instr.op() {
        Op::Return0 | Op::Return1 => ensure(state.open.is_empty(), pc, "return without close")?,
        Op::Return | Op::TailCall => {
            ensure(c != 0 || state.open.is_empty(), pc, "return without close")?;
            // A tail call replaces the frame, so nothing may be left that closes later.
            ensure(
                instr.op() == Op::Return || state.closing.is_empty(),
                pc,
                "tail call with a variable to be closed",
            )?;
        }
        Op::Tbc => mark_closing(&mut after, pc, a)?,
        Op::TForPrep => mark_closing(&mut after, pc, a + 3)?,
        Op::Close => {
            after.open = after.open.minus(Registers::from(a));
            after.closing = after.closing.minus(Registers::from(a));
        }
        Op::Closure => capture(proto, pc, instr, &mut after)?,
        Op::ForPrep => {
            ensure(
                state.open.and(Registers::range((a, 3))).is_empty(),
                pc,
                "the state of a loop is captured",
            )?;
        }
        Op::ForLoop => {
            ensure(
                state.open.and(Registers::range((a, 3))).is_empty(),
                pc,
                "the state of a loop is captured",
            )?;
        }
        _ => {}
    }
    follow(code, pc, after, edges);
    Ok(())
}

/// Whether the fixed values in front of the multiple value are all written.
fn multiple_value_is_whole(code: &[Instr], pc: usize, state: State) -> bool {
    let instr = code[pc];
    let producer = code[pc - 1].a();
    let start = match instr.op() {
        Op::Call | Op::TailCall => instr.a() + 2,
        Op::Return => instr.a(),
        _ => instr.a() + 1,
    };
    state.assigned.contains(Registers::range((start, producer.saturating_sub(start))))
}

fn mark_closing(state: &mut State, pc: usize, register: usize) -> Result {
    ensure(
        state.closing.and(Registers::from(register)).is_empty(),
        pc,
        "variables to be closed are out of order",
    )?;
    state.closing = state.closing.or(Registers::range((register, 1)));
    state.open = state.open.or(Registers::range((register, 1)));
    Ok(())
}

fn capture(proto: &Proto, pc: usize, instr: Instr, state: &mut State) -> Result {
    for upvalue in &proto.protos[instr.bx()].upvalues {
        if upvalue.in_stack {
            let register = Registers::range((upvalue.index as usize, 1));
            // A function may capture the variable that it is stored to.
            ensure(state.assigned.contains(register), pc, "a dead register is captured")?;
            state.open = state.open.or(register);
        }
    }
    Ok(())
}

fn follow(code: &[Instr], pc: usize, state: State, edges: &mut Vec<(usize, State)>) {
    let a = code[pc].a();
    let with =
        |range: Range| State { assigned: state.assigned.or(Registers::range(range)), ..state };
    // Some results are seen on one way out only: (falling through, jumping).
    let (falls, jumps) = match code[pc].op() {
        Op::TestSet => (with((a, 1)), state),
        Op::ForPrep => (with((a + 3, 1)), state),
        Op::ForLoop => (state, with((a + 3, 1))),
        _ => (state, state),
    };
    match shape::next(code, pc) {
        Next::Falls => edges.push((pc + 1, falls)),
        Next::Goes(target) => edges.push((target, jumps)),
        Next::Branches(target) => {
            edges.push((pc + 1, falls));
            edges.push((target, jumps));
        }
        Next::Leaves => {}
    }
}
