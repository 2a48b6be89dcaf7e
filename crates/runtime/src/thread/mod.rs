//! A coroutine: its VM stack, and its state while it does not run.

mod bottom;
mod companion;
mod life;
mod stack;
mod upvalues;

pub use companion::Companion;

use crate::header::GcHeader;
use crate::heap::Memory;
use crate::hook::Hook;
use crate::raised::ErrorKind;
use crate::upvalue::Upvalue;
use crate::value::{Tag, Value};

/// The largest number of slots of a stack (PUC-Lua's `LUAI_MAXSTACK`).
pub const MAX_STACK: usize = 1_000_000;
/// Number of slots kept free above every frame for native functions and metamethod calls.
pub const MIN_FREE: usize = 24;
/// Number of slots beyond [`MAX_STACK`] that are available while a stack overflow is being handled.
pub const ERROR_ROOM: usize = 4_000;
/// Number of slots of a new stack.
pub const INITIAL_STACK: usize = 64;

/// The status of a coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Status {
    /// Not started, or between `yield` and `resume`.
    Suspended,
    /// Running.
    Running,
    /// It has resumed another coroutine, and waits for it.
    Normal,
    /// Finished, or ended by an error.
    Dead,
}

/// Where a CALL instruction stores its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallResults {
    /// The register of the first one.
    pub first: u8,
    /// The number of requested results plus 1, or 0 for all.
    pub wanted: u8,
}

/// A coroutine. It is boxed outside the blocks, since its stack is a separate allocation.
///
/// While it runs, its `base`, `top` and `limit` are those of the [`crate::state::State`].
#[repr(C)]
pub struct Thread {
    /// Header.
    pub header: GcHeader,
    /// The slots. There are `capacity` of them, of which the last [`MIN_FREE`] are never part of a
    /// Lua frame.
    pub stack: *mut Value,
    /// Number of slots allocated.
    pub capacity: usize,
    /// The saved base of the top frame.
    pub base: *mut Value,
    /// The saved end of the top frame's values.
    pub top: *mut Value,
    /// The head of the list of open upvalues, from the top of the stack down.
    pub open: *mut Upvalue,
    /// The to-be-closed variables, as ascending offsets in the stack.
    pub to_close: Vec<u32>,
    /// Returns that are waiting for variables to be closed: the offset of the frame's base, and the
    /// number of results.
    pub returning: Vec<(u32, u32)>,
    /// Status.
    pub status: Status,
    /// Whether it ended with an error whose value `coroutine.close` still has to report.
    pub failed: bool,
    /// The error that ended it, while `failed` is set.
    pub death: Value,
    /// The kind of that error.
    pub death_kind: ErrorKind,
    /// The native depth at its last resumption.
    pub depth: u32,
    /// The coroutine that resumed it.
    pub resumer: *mut Thread,
    /// Number of native calls between its base and the running frame. It may yield when this is 0.
    pub non_yieldable: u32,
    /// The highest slot written since the last collection, which cleared the slots above.
    pub high_water: *mut Value,
    /// The hook of this coroutine.
    pub hook: Option<Box<Hook>>,
    /// Whether events are kept from the hook ([`Quiet`](crate::hook::Quiet)).
    pub is_quiet: bool,
    /// For the running call or return hook: the first argument or result as a local variable, and
    /// their number; both are 0 if there are none.
    pub hook_transfer: (u32, u32),
    /// Whether the running hook requests that the coroutine yield before the instruction.
    pub hook_yields: bool,
    /// Set while the coroutine is suspended after such a yield, with a Lua frame on top: the offset
    /// in the stack where the values in use end.
    pub hook_yielded: Option<u32>,
    /// Whether the stack begins with a frame in which the host keeps values while no function is
    /// active in the coroutine ([`Thread::make_bottom`]).
    pub has_bottom: bool,
    /// Set while the coroutine is suspended in a call of `coroutine.yield` by a CALL instruction:
    /// where to store the values passed by the resume, which is all that the resume has to do.
    pub yielded_in_call: Option<CallResults>,
    /// Data that the host keeps for the coroutine.
    pub companion: Companion,
}

impl Value {
    /// Makes the value that refers to a coroutine.
    #[inline(always)]
    pub fn thread(p: *mut Thread) -> Value {
        Value::object(p, Tag::THREAD)
    }
    /// Returns the payload as a coroutine.
    #[inline(always)]
    pub fn as_thread(self) -> *mut Thread {
        self.as_ptr()
    }
}

/// Allocates the memory of a stack and fills it with nil.
///
/// # Safety
/// `memory` is that of the state that the stack belongs to. The caller frees the stack by
/// [`free_stack`], with the same capacity.
pub(crate) unsafe fn alloc_stack(memory: &mut Memory, capacity: usize) -> *mut Value {
    fill(memory.alloc(capacity * size_of::<Value>()).cast(), capacity)
}

/// Like [`alloc_stack`], but returns null when there is no memory for a large stack.
///
/// # Safety
/// As for [`alloc_stack`].
pub(crate) unsafe fn try_alloc_stack(memory: &mut Memory, capacity: usize) -> *mut Value {
    let stack = memory.alloc_or_null(capacity * size_of::<Value>()).cast::<Value>();
    if stack.is_null() { stack } else { fill(stack, capacity) }
}

unsafe fn fill(stack: *mut Value, capacity: usize) -> *mut Value {
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
