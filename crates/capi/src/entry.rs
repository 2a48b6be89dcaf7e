//! Entering the API: the coroutine that a call names becomes the running one for its duration.

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
    /// What the status of the coroutine was.
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
        let st = (*l).state;
        if (*st).thread != (*l).thread {
            return Entry::switch(l);
        }
        let none = std::ptr::null_mut();
        Entry { st, from: none, status: Status::Running, resumed: none, resumer: none }
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
        if (*st).top >= (*st).limit {
            make_room(st);
        }
        (*st).top.put(v);
        (*st).top = (*st).top.add(1);
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
        let (st, co) = ((*l).state, (*l).thread);
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
        Entry { st, from, status, resumed, resumer }
    }

    #[cold]
    unsafe fn switch_back(&mut self) {
        let (st, from) = (self.st, self.from);
        let co = (*st).thread;
        Thread::save_registers(st);
        (*co).status = self.status;
        (*co).resumer = self.resumer;
        (*co).non_yieldable -= 1;
        if !self.resumed.is_null() {
            (*self.resumed).resumer = co;
        }
        (*from).status = Status::Running;
        Thread::load_registers(st, from);
        (*st).barrier(from.cast());
        (*st).sync_hook();
    }
}

impl Drop for Entry {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

#[cold]
unsafe fn make_room(st: *mut State) {
    if State::reserve(st, 1).is_err() && (*st).top.add(1) >= (*st).hard_limit() {
        // PUC writes beyond the end of the stack in this case.
        eprintln!("perilune: a C function pushes more values than lua_checkstack has allowed");
        std::process::abort();
    }
}
