//! A coroutine: its VM stack and what it needs while it does not run.

use crate::closure::Upvalue;
use crate::header::GcHeader;
use crate::heap::Memory;
use crate::value::Value;

/// Most slots that a stack may have (PUC's `LUAI_MAXSTACK`).
pub const MAX_STACK: usize = 1_000_000;
/// Slots kept free above every frame for native functions and metamethod calls.
pub const MIN_FREE: usize = 24;
/// Slots of room past [`MAX_STACK`] while a stack overflow is being handled.
pub const ERROR_ROOM: usize = 4_000;
/// Slots that a new stack has.
pub const INITIAL_STACK: usize = 64;

/// Status of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Status {
    /// Not started, or between `yield` and `resume`.
    Suspended,
    /// Running.
    Running,
    /// It resumed another one.
    Normal,
    /// Finished, or ended by an error.
    Dead,
}

/// A coroutine. Boxed outside the blocks, as its stack is allocated apart.
///
/// While it runs, `base`, `top` and `limit` live in the [`crate::state::State`].
#[repr(C)]
pub struct Thread {
    /// Header.
    pub header: GcHeader,
    /// The slots; `capacity` of them, of which the last [`MIN_FREE`] are never part of a Lua frame.
    pub stack: *mut Value,
    /// Slots allocated.
    pub capacity: usize,
    /// Saved base of the top frame.
    pub base: *mut Value,
    /// Saved end of the top frame's values.
    pub top: *mut Value,
    /// Head of the list of open upvalues, from the top of the stack down.
    pub open: *mut Upvalue,
    /// To-be-closed variables: offsets in the stack, rising.
    pub to_close: Vec<u32>,
    /// Returns that wait for variables to be closed: offset of the frame's base, number of results.
    pub returning: Vec<(u32, u32)>,
    /// Status.
    pub status: Status,
    /// It ended with an error, whose value `coroutine.close` still has to report.
    pub failed: bool,
    /// The error that ended it, as long as `failed`.
    pub death: Value,
    /// Native depth at which it was resumed last.
    pub depth: u32,
    /// The coroutine that resumed it.
    pub resumer: *mut Thread,
    /// Native calls that stand between its base and the running frame: it may yield at 0.
    pub non_yieldable: u32,
    /// Highest slot ever written since the last collection cleared the rest.
    pub high_water: *mut Value,
    /// Hook of this coroutine.
    pub hook: Option<Box<crate::hook::Hook>>,
    /// The running hook wants the coroutine to yield before the instruction.
    pub hook_yields: bool,
    /// It did so: it is suspended with a frame of Lua code on top, whose values end at this offset of the stack as far as the code is concerned.
    pub hook_yielded: Option<u32>,
}

/// Allocates the memory of a stack and fills it with nil.
///
/// # Safety
/// `memory` is that of the state that the stack belongs to. The caller frees the stack by
/// [`free_stack`], with the same capacity.
pub(crate) unsafe fn alloc_stack(memory: &mut Memory, capacity: usize) -> *mut Value {
    let stack = memory.alloc(capacity * size_of::<Value>()).cast::<Value>();
    for i in 0..capacity {
        stack.add(i).write(Value::NIL);
    }
    stack
}

/// Frees the memory of a stack.
///
/// # Safety
/// `stack` is a result of [`alloc_stack`] for the same memory and capacity, and nothing uses it
/// afterwards.
pub(crate) unsafe fn free_stack(memory: &mut Memory, stack: *mut Value, capacity: usize) {
    memory.free(stack.cast(), capacity * size_of::<Value>());
}
