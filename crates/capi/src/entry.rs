//! Entering the API: for the duration of a call, the coroutine that is passed to it becomes the
//! running coroutine.

use std::mem::{ManuallyDrop, MaybeUninit};

use perilune_runtime::native::Cx;
use perilune_runtime::state::State;
use perilune_runtime::thread::{Status, Thread};
use perilune_runtime::value::{SlotExt, Value};

use crate::state::LuaState;

/// A call of the API in progress. The state's registers are those of the coroutine that the call
/// names. That is nearly always the running one, but C code may use any other.
pub(crate) struct Entry {
    /// The state.
    pub(crate) st: *mut State,
    /// The coroutine that was running before the call; null if that is the named one.
    from: *mut Thread,
    /// The previous condition of the named coroutine; initialized if `from` is not null.
    before: MaybeUninit<Before>,
}

/// The condition of a coroutine before it became the running one for a call.
#[derive(Clone, Copy)]
struct Before {
    /// Its status.
    status: Status,
    /// The coroutine that it had resumed, if it is waiting for one.
    resumed: *mut Thread,
    /// The coroutine that had resumed it.
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
    /// See [`Entry::new`].
    #[inline(always)]
    pub(crate) unsafe fn within<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        if is_running(l) { Entry::running(l, body) } else { Entry::switched(l, body) }
    }

    /// Like [`Entry::within`], for the running coroutine.
    ///
    /// # Safety
    /// See [`Entry::new`].
    #[inline(always)]
    pub(crate) unsafe fn running<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        // There is nothing to undo, so the entry is not dropped and can stay in machine registers.
        body(&mut ManuallyDrop::new(Entry::of_running(l)))
    }

    /// Like [`Entry::within`], for a coroutine that is not the running one.
    ///
    /// # Safety
    /// See [`Entry::new`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn switched<R>(l: *mut LuaState, body: impl FnOnce(&mut Entry) -> R) -> R {
        body(&mut Entry::switch(l))
    }

    /// Like [`Entry::switched`], for a body that may raise an error and pops `popped` values.
    /// Nothing catches the error in the coroutine, so it is raised in the running one. As in PUC,
    /// it ends the coroutine, except for one that waits for another: only what the body has left
    /// in that is removed.
    ///
    /// # Safety
    /// See [`Entry::new`].
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn switched_fallible<R, E>(
        l: *mut LuaState,
        popped: usize,
        body: impl FnOnce(&mut Entry) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut e = Entry::switch(l);
        let (st, co) = (e.st, (*l).thread);
        let waits = e.before.assume_init().status == Status::Normal;
        let base = (*st).base.offset_from((*co).stack);
        let kept = (*st).top.offset_from((*st).base) as usize - popped;
        let result = body(&mut e);
        if result.is_err() && waits {
            (*st).base = (*co).stack.offset(base);
            // the body may have popped the error that it raises
            let kept = kept.min(e.cx().top());
            e.cx().recover(kept);
            let error = e.pop();
            e.leave();
            (*st).error = error;
        } else if result.is_err() {
            e.leave();
            fail(l);
        }
        result
    }

    #[inline(always)]
    unsafe fn of_running(l: *mut LuaState) -> Entry {
        Entry { st: LuaState::state(l), from: std::ptr::null_mut(), before: MaybeUninit::uninit() }
    }

    /// Returns whether the named coroutine was already the running one.
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

    /// Pushes a value. C code need not ask for room for the first 20 values; for more it should,
    /// but it gets the room in any case.
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

    /// Pops the last value and returns it.
    ///
    /// # Safety
    /// There is a value to pop.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self) -> Value {
        (*self.st).top = (*self.st).top.sub(1);
        (*self.st).top.get()
    }

    #[cold]
    unsafe fn switch(l: *mut LuaState) -> Entry {
        // An opaque use: otherwise the compiler would pass the contents of the block in place of
        // its address to the functions that lead here, and their callers would have to move their
        // arguments.
        let l = std::hint::black_box(l);
        let (st, co) = (LuaState::state(l), (*l).thread);
        let from = (*st).thread;
        Thread::make_bottom(co);
        Thread::save_registers(st);
        let (status, resumer) = ((*co).status, (*co).resumer);
        // Walks over all active frames follow the chain of resumers: the coroutine becomes the
        // first in the chain and is removed from its previous place.
        let mut resumed = std::ptr::null_mut();
        if status == Status::Normal {
            resumed = from;
            while (*resumed).resumer != co {
                resumed = (*resumed).resumer;
            }
            (*resumed).resumer = resumer;
        }
        if status != Status::Normal {
            (*co).depth = (*st).native_depth;
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
        // `switch` has initialized it, since there is a coroutine to switch back to.
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

/// Ends a coroutine, which is not running, with the error that is being raised. Its variables are
/// closed, which may change the error.
unsafe fn fail(l: *mut LuaState) {
    let (st, co) = (LuaState::state(l), (*l).thread);
    (*l).continuations.clear();
    note_death(st, co);
    let closed = ((*st).vm.close)(st, co);
    debug_assert!(closed.is_err(), "closing it raises the error again");
    note_death(st, co);
    Thread::make_bottom(co);
    // as in PUC, it is the coroutine's only value
    Entry::new(l).push((*st).error);
}

/// Records that the error that is being raised has ended the coroutine.
unsafe fn note_death(st: *mut State, co: *mut Thread) {
    (*co).failed = true;
    (*co).death = (*st).error;
    (*co).death_kind = (*st).error_kind;
    (*st).barrier(co.cast());
}

/// Returns whether the coroutine is the running one.
///
/// # Safety
/// See [`Entry::new`].
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

// The calling convention says that this function does not unwind, so that its callers need no frame
// to stop a panic.
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
