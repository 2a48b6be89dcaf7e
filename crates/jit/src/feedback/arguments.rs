//! Finds the closures that are passed as arguments, where the surrounding code shows them.
//!
//! A function that is passed a closure, such as one that loops over elements, calls many closures
//! from the same instruction, so the feedback of the function does not show which one will be
//! called. Where the function is inlined, the code of the caller may show what is passed. The
//! result is likely, not certain: code compares the method of a callee before it continues with an
//! inlined body.

use perilune_bytecode::effects::effects;
use perilune_bytecode::{Instr, Op};
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;

/// The parameters of a function for which closures are passed, by number, with the instances of
/// the closures.
pub(crate) type Passed = Vec<(usize, *mut Instance)>;

/// Returns the closures that the call at `pc` passes, given the closures `params` that the function
/// with this instance is passed. The callee receives them from its parameter number `shift` on.
///
/// # Safety
/// `inst` is a live instance of the state that runs on this thread.
pub(crate) unsafe fn passed_at(
    inst: *mut Instance,
    pc: usize,
    params: &Passed,
    shift: usize,
) -> Passed {
    let i = (&(&(*inst).proto).code)[pc];
    let count = i.b().saturating_sub(1);
    let first = i.a() + Frame::RESERVED;
    let passed = |n| Some((n + shift, closure_in(inst, pc, first + n, params)?));
    (0..count).filter_map(passed).collect()
}

/// Returns the calls whose callees are closures that the function makes or is passed, with their
/// instances.
///
/// # Safety
/// As for [`passed_at`].
pub(crate) unsafe fn calls_of(inst: *mut Instance, params: &Passed) -> Vec<(u32, *mut Instance)> {
    let calls = (&(*inst).proto).code.iter().enumerate();
    let calls = calls.filter(|(_, i)| i.op() == Op::Call && i.b() != 0);
    calls.filter_map(|(pc, i)| Some((pc as u32, closure_in(inst, pc, i.a(), params)?))).collect()
}

/// Returns the instance of the closure that register `r` is likely to hold before `pc`.
unsafe fn closure_in(
    inst: *mut Instance,
    mut pc: usize,
    mut r: usize,
    params: &Passed,
) -> Option<*mut Instance> {
    let proto = &(*inst).proto;
    loop {
        match producer(&proto.code, pc, r) {
            Some((at, i)) if i.op() == Op::Move => (pc, r) = (at, i.b()),
            Some((_, i)) if i.op() == Op::Closure => {
                let child = *(*inst).children.add(i.bx());
                return (!child.is_null()).then_some(child);
            }
            Some(_) => return None,
            None => return params.iter().find(|&&(n, _)| n == r).map(|&(_, passed)| passed),
        }
    }
}

/// Returns the last instruction before `pc` that writes register `r`, and its pc.
fn producer(code: &[Instr], pc: usize, r: usize) -> Option<(usize, Instr)> {
    let before = code[..pc].iter().copied().enumerate();
    before.rev().find(|&(_, i)| effects(i).changes(r))
}
