//! The shape of control flow: pairs, targets and loops.

use super::{Result, ensure};
use crate::flow::{Next, is_test, next};
use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::{Constant, Proto};

pub(super) fn check(proto: &Proto) -> Result {
    let code = &proto.code[..];
    ensure(
        proto.is_vararg == (code[0].op() == Op::VarArgPrep),
        0,
        "VARARGPREP does not match the function",
    )?;
    for pc in 0..code.len() {
        targets(proto, pc)?;
        pairs(proto, pc)?;
    }
    loops(code)
}

/// Returns whether the instruction at `pc` takes a multiple value from the one before it.
pub(super) fn is_consumer(instr: Instr) -> bool {
    matches!(instr.op(), Op::Call | Op::TailCall | Op::Return | Op::SetList) && instr.b() == 0
}

/// Returns whether it produces a multiple value for the instruction after it.
pub(super) fn is_producer(instr: Instr) -> bool {
    match instr.op() {
        Op::Call | Op::CallMeta | Op::VarArg => instr.c() == 0,
        Op::TailCall => true,
        _ => false,
    }
}

/// Returns whether control may enter at `pc` from an instruction other than the previous one.
fn is_entry(proto: &Proto, pc: usize) -> bool {
    let code = &proto.code;
    let Some(&instr) = code.get(pc) else { return false };
    let before = pc.checked_sub(1).map(|p| code[p]);
    !matches!(instr.op(), Op::ExtraArg | Op::VarArgPrep | Op::TForLoop)
        && !is_consumer(instr)
        && before.is_none_or(|before| !is_test(before.op()))
}

fn targets(proto: &Proto, pc: usize) -> Result {
    let jumps_to = |target| ensure(is_entry(proto, target), pc, "bad jump target");
    let falls = || ensure(pc + 1 < proto.code.len(), pc, "code ends without a return");
    match next(&proto.code, pc) {
        Next::Falls => falls(),
        Next::Goes(target) => jumps_to(target),
        Next::Branches(target) => {
            falls()?;
            // A test skips its JMP, so control must be allowed to enter the place after the JMP.
            jumps_to(target)
        }
        Next::Leaves => Ok(()),
    }
}

fn pairs(proto: &Proto, pc: usize) -> Result {
    let code = &proto.code;
    let instr = code[pc];
    let after = code.get(pc + 1);
    let after_op = after.map(|i| i.op());
    let before = pc.checked_sub(1).map(|p| code[p]);
    match instr.op() {
        op if is_test(op) => ensure(after_op == Some(Op::Jmp), pc, "test without a JMP")?,
        Op::LoadKX => {
            ensure(after_op == Some(Op::ExtraArg), pc, "LOADKX without an EXTRAARG")?;
            let index = after.map_or(usize::MAX, |i| i.ax_value());
            ensure(
                matches!(
                    proto.constants.get(index),
                    Some(
                        Constant::Nil
                            | Constant::Bool(_)
                            | Constant::Integer(_)
                            | Constant::Float(_)
                            | Constant::Str(_)
                    )
                ),
                pc,
                "constant out of range",
            )?;
        }
        Op::SetList => ensure(after_op == Some(Op::ExtraArg), pc, "SETLIST without an EXTRAARG")?,
        Op::ExtraArg => ensure(
            before.is_some_and(|b| matches!(b.op(), Op::LoadKX | Op::SetList)),
            pc,
            "EXTRAARG without its instruction",
        )?,
        Op::TailCall => ensure(
            after.is_some_and(|r| {
                r.op() == Op::Return && r.b() == 0 && r.a() == instr.a() && r.c() == instr.c()
            }),
            pc,
            "TAILCALL without its RETURN",
        )?,
        _ => {}
    }
    if is_producer(instr) {
        ensure(after.is_some_and(|&i| is_consumer(i)), pc, "a multiple value is not used")?;
    }
    if is_consumer(instr) {
        let start = match instr.op() {
            Op::Call | Op::TailCall => instr.a() + 2,
            Op::Return => instr.a(),
            _ => instr.a() + 1,
        };
        ensure(
            before.is_some_and(|b| is_producer(b) && start <= b.a()),
            pc,
            "no multiple value here",
        )?;
    }
    Ok(())
}

/// Checks that a loop instruction has exactly one preparation, which goes to it, that control
/// enters a numeric loop only there, and that only the loop writes its state.
fn loops(code: &[Instr]) -> Result {
    for (pc, &instr) in code.iter().enumerate() {
        match instr.op() {
            Op::ForPrep => {
                let end = pc + 1 + instr.bx();
                let matches = code.get(end).is_some_and(|l| {
                    l.op() == Op::ForLoop
                        && l.a() == instr.a()
                        && end + 1 - l.bx().min(end + 1) == pc + 1
                });
                ensure(matches, pc, "FORPREP without its FORLOOP")?;
            }
            Op::TForPrep => {
                let call = pc + 1 + instr.bx();
                let matches =
                    code.get(call).is_some_and(|c| c.op() == Op::TForCall && c.a() == instr.a())
                        && code.get(call + 1).is_some_and(|l| {
                            l.op() == Op::TForLoop
                                && l.a() == instr.a()
                                && call + 2 - l.bx().min(call + 2) == pc + 1
                        });
                ensure(matches, pc, "TFORPREP without its loop")?;
            }
            Op::ForLoop => {
                let prep = (pc + 1).checked_sub(instr.bx() + 1).map(|p| (p, code[p]));
                ensure(
                    prep.is_some_and(|(p, i)| i.op() == Op::ForPrep && p + 1 + i.bx() == pc),
                    pc,
                    "FORLOOP without its FORPREP",
                )?;
            }
            Op::TForCall => ensure(
                code.get(pc + 1).is_some_and(|l| l.op() == Op::TForLoop && l.a() == instr.a()),
                pc,
                "TFORCALL without its TFORLOOP",
            )?,
            Op::TForLoop => {
                let prep = (pc + 1).checked_sub(instr.bx() + 1).map(|p| (p, code[p]));
                ensure(
                    prep.is_some_and(|(p, i)| i.op() == Op::TForPrep && p + 2 + i.bx() == pc),
                    pc,
                    "TFORLOOP without its TFORPREP",
                )?;
            }
            _ => {}
        }
    }
    numeric_regions(code)
}

/// Checks that loops nest (each begins and ends inside another loop or outside of it), and that no
/// jump from outside enters one.
fn numeric_regions(code: &[Instr]) -> Result {
    if !code.iter().any(|i| i.op() == Op::ForPrep) {
        return Ok(());
    }
    // owner[pc]: the FORPREP of the innermost numeric loop around pc, plus 1.
    let mut owner = vec![0usize; code.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (pc, &instr) in code.iter().enumerate() {
        owner[pc] = open.last().map_or(0, |&(prep, _)| prep + 1);
        if open.last().is_some_and(|&(_, end)| end == pc) {
            open.pop();
        }
        if instr.op() == Op::ForPrep {
            let end = pc + 1 + instr.bx();
            ensure(open.last().is_none_or(|&(_, outer)| end < outer), pc, "loops overlap")?;
            open.push((pc, end));
        }
    }
    let inside = |mut loop_of: usize, wanted: usize| loop {
        if loop_of == wanted {
            return true;
        }
        if loop_of == 0 {
            return false;
        }
        loop_of = owner[loop_of - 1];
    };
    for (pc, &instr) in code.iter().enumerate() {
        if let Next::Goes(target) | Next::Branches(target) = next(code, pc) {
            ensure(inside(owner[pc], owner[target]), pc, "jump into a loop")?;
        }
        let mut around = owner[pc];
        while around != 0 {
            let prep = around - 1;
            let state = code[prep].a();
            ensure(!writes_state(instr, state), pc, "the state of a loop is overwritten")?;
            around = owner[prep];
        }
    }
    Ok(())
}

/// Returns whether `instr` may change `R[state] .. R[state + 2]`, except as the loop's own FORLOOP.
fn writes_state(instr: Instr, state: usize) -> bool {
    let e = crate::effects::effects(instr);
    let last = state + 2;
    let hits = |first: usize, count: usize| count > 0 && first <= last && state < first + count;
    // A loop inside writes R[A] .. R[A+3]; the loop itself has A == state.
    let inner_loop = match instr.op() {
        Op::ForPrep | Op::TForPrep => hits(instr.a(), 4),
        Op::ForLoop => instr.a() != state && hits(instr.a(), 4),
        Op::TForCall | Op::TForLoop => hits(instr.a() + 2, 2),
        Op::TestSet => hits(instr.a(), 1),
        _ => false,
    };
    inner_loop
        || e.releases.is_some_and(|from| from <= last)
        || e.writes.into_iter().any(|(first, count)| hits(first, count))
}
