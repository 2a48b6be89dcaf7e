//! Entering the API: the coroutine that a call names becomes the running one for its duration.

use std::mem::{ManuallyDrop, MaybeUninit};

use perilune_runtime::native::Cx;
use perilune_runtime::state::State;
use perilune_runtime::thread::{Status, Thread};
use perilune_runtime::value::{SlotExt, Value};

use crate::state::LuaState;

/// A call of the API under way. The state's registers are those of the coroutine that it names.
/// That is nearly always the running one; C code may use any other, too.
pub(crate) struct Entry {
    /// The state.
    pub(crate) st: *mut State,
    /// The coroutine that runs otherwise; null if that is the one that was named.
    from: *mut Thread,
    /// What the named coroutine was before, if another one runs otherwise.
    before: MaybeUninit<Before>,
}

/// What a coroutine was before it became the running one for a call.
#[derive(Clone, Copy)]
struct Before {
    /// Its status.
    status: Status,
    /// The coroutine that it had resumed, if it waits for that.
    resumed: *mut Thread,
    /// Who had resumed it.
    resumer: *mut Thread,
}

impl Entry {
    /// Enters the API.
    ///
    /// # Safety
    /// `l` is the block of a live coroutine, and the state belongs to this thread.
    #[inline(always)]
    pub(crate) unsafe fn new(l: *mut LuaState) -> Entry {
        if is_running(l) { Entry::of_running(l) } else { Entry::switch(l) }
    }

    /// Enters the API for the duration of `body`.
    ///
    /// # Safety
    /// As for [`Entry::new`].
    #[inline(always)]
    pub(crate) unsafe fn within<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        if is_running(l) { Entry::running(l, body) } else { Entry::switched(l, body) }
    }

    /// Does the same for a coroutine that is the running one.
    ///
    /// # Safety
    /// As for [`Entry::new`].
    #[inline(always)]
    pub(crate) unsafe fn running<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        // There is nothing to take back, so the entry is not dropped: then it is in registers.
        body(&mut ManuallyDrop::new(Entry::of_running(l)))
    }

    /// Does the same for another coroutine.
    ///
    /// # Safety
    /// As for [`Entry::new`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn switched<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        body(&mut Entry::switch(l))
    }

    #[inline(always)]
    unsafe fn of_running(l: *mut LuaState) -> Entry {
        Entry { st: LuaState::state(l), from: std::ptr::null_mut(), before: MaybeUninit::uninit() }
    }

    /// Returns whether the named coroutine is the one that runs anyway.
    pub(crate) fn is_running(&self) -> bool {
        self.from.is_null()
    }

    /// Ends the call before the entry is dropped.
    pub(crate) fn leave(&mut self) {
        if !self.from.is_null() {
            // SAFETY: C1: calls inside have restored the registers of the coroutine.
            unsafe { self.switch_back() }
            self.from = std::ptr::null_mut();
        }
    }

    /// Returns the view of the state.
    #[inline(always)]
    pub(crate) fn cx(&mut self) -> &mut Cx {
        // SAFETY: C1: the state is alive, and a frame of the named coroutine is on top.
        unsafe { Cx::from_state(self.st) }
    }

    /// Pushes a value. C code need not ask for room for the first 20; for more it should, but is
    /// given it anyway.
    ///
    /// # Safety
    /// `v` is a live value of the state.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, v: Value) {
        let st = self.st;
        let top = (*st).top;
        if top >= (*st).limit {
            return push_with_room(st, v);
        }
        top.put(v);
        (*st).top = top.add(1);
    }

    /// Removes the last value and returns it.
    ///
    /// # Safety
    /// There is one.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self) -> Value {
        (*self.st).top = (*self.st).top.sub(1);
        (*self.st).top.get()
    }

    #[cold]
    unsafe fn switch(l: *mut LuaState) -> Entry {
        // An opaque use: else functions that get here would be given what is in the block in place
        // of its address, and those that call them would have to move their arguments.
        let l = std::hint::black_box(l);
        let (st, co) = (LuaState::state(l), (*l).thread);
        let from = (*st).thread;
        Thread::make_bottom(co);
        Thread::save_registers(st);
        let (status, resumer) = ((*co).status, (*co).resumer);
        // Walks over all active frames follow the resumers: the coroutine comes first, and is taken
        // out of where it was.
        let mut resumed = std::ptr::null_mut();
        if status == Status::Normal {
            resumed = from;
            while (*resumed).resumer != co {
                resumed = (*resumed).resumer;
            }
            (*resumed).resumer = resumer;
        }
        (*co).resumer = from;
        (*co).status = Status::Running;
        (*co).non_yieldable += 1;
        (*from).status = Status::Normal;
        Thread::load_registers(st, co);
        (*st).barrier(co.cast());
        (*st).sync_hook();
        Entry { st, from, before: MaybeUninit::new(Before { status, resumed, resumer }) }
    }

    #[cold]
    unsafe fn switch_back(&mut self) {
        let (st, from) = (self.st, self.from);
        // It was written by `switch`, since there is a coroutine to go back to.
        let before = self.before.assume_init();
        let co = (*st).thread;
        Thread::save_registers(st);
        (*co).status = before.status;
        (*co).resumer = before.resumer;
        (*co).non_yieldable -= 1;
        if !before.resumed.is_null() {
            (*before.resumed).resumer = co;
        }
        (*from).status = Status::Running;
        Thread::load_registers(st, from);
        (*st).barrier(from.cast());
        (*st).sync_hook();
    }
}

/// Returns whether the coroutine is the one that runs.
///
/// # Safety
/// As for [`Entry::new`].
#[inline(always)]
pub(crate) unsafe fn is_running(l: *mut LuaState) -> bool {
    (*LuaState::state(l)).thread == (*l).thread
}

impl Drop for Entry {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

// The convention says that it does not unwind, so that its callers need no frame to stop a panic.
#[cold]
#[inline(never)]
unsafe extern "C" fn push_with_room(st: *mut State, v: Value) {
    if State::reserve(st, 1).is_err() && (*st).top.add(1) >= (*st).hard_limit() {
        // PUC writes beyond the end of the stack in this case.
        eprintln!("perilune: a C function pushes more values than lua_checkstack has allowed");
        std::process::abort();
    }
    (*st).top.put(v);
    (*st).top = (*st).top.add(1);
}
