//! OSR entry: continuing in machine code in the middle of a loop.

use perilune_runtime::frame::Frame;
use perilune_runtime::state::State;

use crate::machine;
use crate::native::run_to_lua;
use crate::step::Step;

/// Notifies the compiler that a loop has had many iterations, and continues in its machine code if
/// it is compiled. The code may return to a frame that takes a variable number of results, which
/// end at the top.
///
/// # Safety
/// I2; the pc is stored, and is that of the loop's first instruction.
#[cold]
#[inline(never)]
pub(crate) unsafe fn hot_loop(st: *mut State) -> Step {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let pc = frame.word().pc();
    // at the head of a loop, a frame has no multiple value pending
    (*st).top = frame.0.add((*inst).max_stack as usize);
    let Some(entry) = machine::with_tier(st, |tier| tier.hot_loop(st, inst, pc)) else {
        return Ok(());
    };
    if entry.is_null() || !machine::has_room(st) {
        return Ok(());
    }
    run_to_lua(st, machine::enter_loop(st, entry))
}
