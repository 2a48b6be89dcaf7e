//! The contents of registers on every path: a forward analysis to a fixed point.

use super::shape;
use super::{Result, ensure};
use crate::effects::{Range, effects};
use crate::flow::{Next, next};
use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::Proto;

/// A set of the registers below 64 * `N`. Most functions need one word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Registers<const N: usize>([u64; N]);

impl<const N: usize> Registers<N> {
    const NONE: Registers<N> = Registers([0; N]);

    /// Returns the registers `first .. first + count`, without those that no set contains.
    #[inline]
    fn range((first, count): Range) -> Registers<N> {
        match count {
            0 => Registers::NONE,
            1 => {
                let mut set = Registers::NONE;
                if let Some(word) = set.0.get_mut(first / 64) {
                    *word = 1 << (first % 64);
                }
                set
            }
            _ => Registers::from(first).minus(Registers::from(first + count)),
        }
    }

    /// Returns all registers from `first` on.
    #[inline]
    fn from(first: usize) -> Registers<N> {
        let mut set = Registers::NONE;
        for (i, word) in set.0.iter_mut().enumerate() {
            *word = match first.saturating_sub(i * 64) {
                n if n < 64 => u64::MAX << n,
                _ => 0,
            };
        }
        set
    }

    #[inline]
    fn zip(self, other: Registers<N>, f: fn(u64, u64) -> u64) -> Registers<N> {
        Registers(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    #[inline]
    fn and(self, other: Registers<N>) -> Registers<N> {
        self.zip(other, |a, b| a & b)
    }

    #[inline]
    fn or(self, other: Registers<N>) -> Registers<N> {
        self.zip(other, |a, b| a | b)
    }

    #[inline]
    fn minus(self, other: Registers<N>) -> Registers<N> {
        self.zip(other, |a, b| a & !b)
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.0 == [0; N]
    }

    #[inline]
    fn contains(self, other: Registers<N>) -> bool {
        other.minus(self).is_empty()
    }
}

/// The facts that are known before an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State<const N: usize> {
    /// Registers that were written on every path.
    assigned: Registers<N>,
    /// Registers that may have an open upvalue, or be pending to be closed.
    open: Registers<N>,
    /// Registers that may be pending to be closed.
    closing: Registers<N>,
}

impl<const N: usize> State<N> {
    fn join(self, other: State<N>) -> State<N> {
        State {
            assigned: self.assigned.and(other.assigned),
            open: self.open.or(other.open),
            closing: self.closing.or(other.closing),
        }
    }
}

pub(super) fn check(proto: &Proto) -> Result {
    match proto.max_stack {
        0..=64 => check_paths::<1>(proto),
        _ => check_paths::<4>(proto),
    }
}

/// Where control continues after an instruction, and in which state: one place, and possibly a
/// second one.
type Edges<const N: usize> = (Option<(usize, State<N>)>, Option<(usize, State<N>)>);

fn check_paths<const N: usize>(proto: &Proto) -> Result {
    let code = &proto.code[..];
    // States are kept for pcs that control may reach from more than one place. For each pc, this
    // has the number of its state, counted from 1.
    let mut join_at = vec![0u32; code.len()];
    let mut count = 0;
    for pc in 0..code.len() {
        if let Next::Goes(target) | Next::Branches(target) = next(code, pc)
            && join_at[target] == 0
        {
            count += 1;
            join_at[target] = count;
        }
    }
    let mut joins: Vec<Option<State<N>>> = vec![None; count as usize];
    let entry = State {
        assigned: Registers::range((0, proto.num_params as usize)),
        open: Registers::NONE,
        closing: Registers::NONE,
    };
    let mut work = vec![(0, entry)];
    while let Some((mut pc, mut state)) = work.pop() {
        // Follows straight-line code until it reaches a known state.
        loop {
            if join_at[pc] != 0 {
                let join = &mut joins[join_at[pc] as usize - 1];
                if let Some(known) = *join {
                    state = known.join(state);
                    if state == known {
                        break;
                    }
                }
                *join = Some(state);
            }
            let (first, second) = step(proto, pc, state)?;
            work.extend(second);
            let Some(next) = first else { break };
            (pc, state) = next;
        }
    }
    Ok(())
}

/// Checks the instruction at `pc` in `state`; returns where control continues, and in which state.
fn step<const N: usize>(proto: &Proto, pc: usize, state: State<N>) -> Result<Edges<N>> {
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
        ensure(false, pc, "register read before it is written")?;
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
            // A tail call replaces the frame, so no variable may remain that is closed later.
            ensure(
                instr.op() == Op::Return || state.closing.is_empty(),
                pc,
                "tail call with a variable to be closed",
            )?;
        }
        Op::Tbc => mark_closing(&mut after, pc, a)?,
        Op::TForPrep => {
            ensure_not_captured(state, pc, (a, 4))?;
            mark_closing(&mut after, pc, a + 3)?;
            // From here on the register holds the position of a `next` loop, which is not a value.
            after.assigned = after.assigned.minus(Registers::range((a + 3, 1)));
        }
        Op::Close => {
            after.open = after.open.minus(Registers::from(a));
            after.closing = after.closing.minus(Registers::from(a));
        }
        Op::Closure => capture(proto, pc, instr, &mut after)?,
        Op::ForPrep | Op::ForLoop => ensure_not_captured(state, pc, (a, 3))?,
        _ => {}
    }
    Ok(follow(code, pc, after))
}

/// Returns whether the fixed values before the multiple value were all written.
fn multiple_value_is_whole<const N: usize>(code: &[Instr], pc: usize, state: State<N>) -> bool {
    let instr = code[pc];
    let producer = code[pc - 1].a();
    let start = match instr.op() {
        Op::Call | Op::TailCall => instr.a() + 2,
        Op::Return => instr.a(),
        _ => instr.a() + 1,
    };
    state.assigned.contains(Registers::range((start, producer.saturating_sub(start))))
}

/// Checks that no upvalue refers to the registers that hold the state of a loop.
fn ensure_not_captured<const N: usize>(state: State<N>, pc: usize, registers: Range) -> Result {
    let captured = state.open.and(Registers::range(registers));
    ensure(captured.is_empty(), pc, "the state of a loop is captured")
}

fn mark_closing<const N: usize>(state: &mut State<N>, pc: usize, register: usize) -> Result {
    ensure(
        state.closing.and(Registers::from(register)).is_empty(),
        pc,
        "variables to be closed are out of order",
    )?;
    state.closing = state.closing.or(Registers::range((register, 1)));
    state.open = state.open.or(Registers::range((register, 1)));
    Ok(())
}

fn capture<const N: usize>(proto: &Proto, pc: usize, instr: Instr, state: &mut State<N>) -> Result {
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

fn follow<const N: usize>(code: &[Instr], pc: usize, state: State<N>) -> Edges<N> {
    let a = code[pc].a();
    let with =
        |range: Range| State { assigned: state.assigned.or(Registers::range(range)), ..state };
    // Some results are visible on one path only: (falling through, jumping).
    let (falls, jumps) = match code[pc].op() {
        Op::TestSet => (with((a, 1)), state),
        Op::ForPrep => (with((a + 3, 1)), state),
        Op::ForLoop => (state, with((a + 3, 1))),
        _ => (state, state),
    };
    match next(code, pc) {
        Next::Falls => (Some((pc + 1, falls)), None),
        Next::Goes(target) => (Some((target, jumps)), None),
        Next::Branches(target) => (Some((pc + 1, falls)), Some((target, jumps))),
        Next::Leaves => (None, None),
    }
}
