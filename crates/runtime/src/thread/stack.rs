//! The size of stacks: how they grow, move and shrink.

use std::ptr;

use super::{ERROR_ROOM, MAX_STACK, MIN_FREE, Thread, free_stack, try_alloc_stack};
use crate::debug::runtime_error;
use crate::raised::Raised;
use crate::state::State;
use crate::tier::INLINED_SLOTS;
use crate::upvalue::Upvalue;
use crate::value::Value;

/// An upper bound of the slots of a frame and of the functions inlined in it.
const MAX_FRAME: usize = 256 + INLINED_SLOTS;

/// In the mode of small stacks, stacks up to this size grow only by as much as needed. Beyond it,
/// deep recursion would take too long.
const SMALL_STEPS: usize = 4_000;

impl State {
    /// Returns the address up to which native functions may push.
    #[inline(always)]
    pub fn hard_limit(&self) -> *mut Value {
        // SAFETY: `limit` is MIN_FREE slots below the end of the stack's memory.
        unsafe { self.limit.add(MIN_FREE) }
    }

    /// Makes room for `n` values above `top`.
    ///
    /// # Errors
    /// Returns "stack overflow".
    ///
    /// # Safety
    /// `st` is live, and its registers (`base`, `top`, `limit`) describe its running coroutine.
    /// Addresses into the stack are invalid afterwards.
    pub unsafe fn reserve(st: *mut State, n: usize) -> Result<(), Raised> {
        if (*st).limit.offset_from((*st).top) < n as isize { Thread::grow(st, n) } else { Ok(()) }
    }
}

impl Thread {
    /// Makes room for `n` slots above the state's `top`, by moving the stack if necessary.
    ///
    /// # Errors
    /// Returns "stack overflow".
    ///
    /// # Safety
    /// As for [`State::reserve`].
    #[cold]
    #[inline(never)]
    pub unsafe fn grow(st: *mut State, n: usize) -> Result<(), Raised> {
        let th = (*st).thread;
        let used = (*st).top.offset_from((*th).stack) as usize;
        let needed = used + n + MIN_FREE;
        let handling = (*th).capacity > MAX_STACK + MIN_FREE;
        if needed > MAX_STACK + MIN_FREE {
            if !handling {
                let large = MAX_STACK + MIN_FREE + ERROR_ROOM;
                if n <= ERROR_ROOM / 2 {
                    // Leaves room for the handler of this error.
                    if !Thread::set_capacity(st, large) {
                        return Err((*st).raise_memory());
                    }
                }
                return Err(runtime_error(st, b"stack overflow"));
            }
            if needed > MAX_STACK + MIN_FREE + ERROR_ROOM {
                return Err(State::raise_in_handler(st));
            }
        }
        let target = if (*st).small_stack && needed < SMALL_STEPS {
            needed
        } else {
            needed.max((*th).capacity * 2).min((MAX_STACK + MIN_FREE).max(needed))
        };
        if target > (*th).capacity {
            let within = (*st).check_room((target - (*th).capacity) * size_of::<Value>());
            // If there is no memory for more, the needed slots are enough.
            let grown = within
                && (Thread::set_capacity(st, target)
                    || target > needed && Thread::set_capacity(st, needed));
            if !grown {
                return Err((*st).raise_memory());
            }
        }
        Ok(())
    }

    /// Makes room for `n` slots from `base` on, if the stack can grow that far; returns whether
    /// there is room.
    ///
    /// # Safety
    /// As for [`State::reserve`]; `base` is in the stack, at most `n` slots below its limit.
    #[cold]
    #[inline(never)]
    pub unsafe fn widen(st: *mut State, base: *mut Value, n: usize) -> bool {
        let th = (*st).thread;
        let needed = base.offset_from((*th).stack) as usize + n + MIN_FREE;
        let target = if (*st).small_stack { needed } else { needed.max((*th).capacity * 2) };
        target <= MAX_STACK
            && (*st).check_room((target - (*th).capacity) * size_of::<Value>())
            && Thread::set_capacity(st, target)
    }

    /// Frees the extra room of a stack overflow after an error was caught.
    ///
    /// # Safety
    /// As for [`State::reserve`].
    #[inline]
    pub unsafe fn shrink_after_error(st: *mut State) {
        if (*(*st).thread).capacity > MAX_STACK + MIN_FREE {
            let used = (*st).top.offset_from((*(*st).thread).stack) as usize;
            // Frames may use slots above `top`, and so may functions that are inlined in them.
            if used + MAX_FRAME < MAX_STACK {
                // If there is no memory for the smaller stack, the larger one can stay.
                Thread::set_capacity(st, MAX_STACK + MIN_FREE);
            }
        }
    }

    /// Moves the running coroutine's stack, for tests that detect stale addresses.
    ///
    /// # Safety
    /// As for [`State::reserve`].
    pub unsafe fn relocate(st: *mut State) {
        Thread::set_capacity(st, (*(*st).thread).capacity);
    }

    /// Moves the running coroutine's stack to a new allocation, and adjusts all pointers into it.
    /// Returns false, and changes nothing, when there is no memory for it.
    unsafe fn set_capacity(st: *mut State, capacity: usize) -> bool {
        let th = (*st).thread;
        let old = (*th).stack;
        let new = try_alloc_stack(&mut (*st).heap.memory, capacity);
        if new.is_null() {
            return false;
        }
        let used =
            ((*st).top.offset_from(old) as usize + MIN_FREE).min((*th).capacity).min(capacity);
        // Frames that called other code may have registers above `top`, so everything that fits is
        // copied.
        let keep = (*th).capacity.min(capacity).max(used);
        ptr::copy_nonoverlapping(old, new, keep);
        let moved = |p: *mut Value| new.add(p.offset_from(old) as usize);
        (*st).base = moved((*st).base);
        (*st).top = moved((*st).top);
        (*th).base = moved((*th).base);
        (*th).top = moved((*th).top);
        (*th).high_water = moved((*th).high_water);
        let mut up = (*th).open;
        while !up.is_null() {
            (*up).place = moved((*up).place);
            up = *Upvalue::next_open(up);
        }
        let old_capacity = (*th).capacity;
        (*th).stack = new;
        (*th).capacity = capacity;
        (*st).limit = new.add(capacity - MIN_FREE);
        if cfg!(debug_assertions) {
            // Code that still uses the old addresses reads meaningless integers.
            std::slice::from_raw_parts_mut(old, old_capacity).fill(Value::int(0x5AFE_DEAD_57AC));
        }
        free_stack(&mut (*st).heap.memory, old, old_capacity);
        let more = capacity as isize - old_capacity as isize;
        (*st).heap.note_external(more * size_of::<Value>() as isize);
        true
    }
}
