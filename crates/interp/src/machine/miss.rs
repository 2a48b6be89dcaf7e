//! Counts operands for which compiled code was not compiled.
//!
//! For such operands, the code calls the runtime. A method with many such misses may be worth
//! recompiling with new feedback. The compiler decides whether the feedback has changed; after each
//! request, the next one takes four times as many misses, up to a limit.

use perilune_bytecode::{Feedback, Instr, Op};
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::State;
use perilune_runtime::tier::MISSES_PER_EXIT;

/// Returns whether feedback could change the code of this instruction.
#[inline(always)]
fn learns(i: Instr) -> bool {
    match i.op() {
        Op::Len | Op::EqK | Op::EqI | Op::ForPrep => false,
        op => matches!(
            op.feedback(),
            Feedback::Field | Feedback::Global | Feedback::Operands | Feedback::Access
        ),
    }
}

/// The largest number of misses between requests. This many misses take much longer than a request,
/// but not noticeably long.
const LONGEST: u32 = 1 << 12;

/// Counts a miss: the runtime is about to execute the instruction before the pc of the top frame,
/// which is a frame of machine code.
///
/// # Safety
/// I2.
#[inline(always)]
pub(super) unsafe fn count(st: *mut State) {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    if learns(*(*inst).code.add(frame.word().pc() as usize - 1)) {
        count_any(st);
    }
}

/// As [`count`], for an instruction whose feedback could change its code.
///
/// # Safety
/// I2.
#[inline(always)]
pub(super) unsafe fn count_any(st: *mut State) {
    spend(st, 1, false);
}

#[inline(always)]
unsafe fn spend(st: *mut State, misses: u32, left: bool) {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    (*inst).misses_left = (*inst).misses_left.saturating_sub(misses);
    if (*inst).misses_left == 0 {
        ask(st, inst, frame.word().code(), left);
    }
}

/// Counts a deoptimization of the frame on top, at unexpected operands or at code that was never
/// executed, as several misses. A deoptimization that is forced by the mode `exit-stress` does not
/// count, since it says nothing about the code.
///
/// # Safety
/// I2.
pub(super) unsafe fn count_deoptimization(st: *mut State) {
    super::with_tier(st, |tier| tier.exited(st));
    if (*st).exit_stress.is_forced() {
        return;
    }
    spend(st, MISSES_PER_EXIT, true);
}

#[cold]
#[inline(never)]
unsafe fn ask(st: *mut State, inst: *mut Instance, code: u32, left: bool) {
    let misses = (*inst).miss_step;
    (*inst).miss_step = misses.saturating_mul(4).min(LONGEST);
    (*inst).misses_left = (*inst).miss_step;
    super::with_tier(st, |tier| tier.missed(st, code, misses, left));
}
