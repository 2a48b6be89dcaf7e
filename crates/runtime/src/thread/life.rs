//! Creating coroutines, and switching between them.

use std::ptr::null_mut;

use super::{Companion, INITIAL_STACK, MIN_FREE, Status, Thread, alloc_stack, fill};
use crate::header::{GcHeader, Kind};
use crate::raised::ErrorKind;
use crate::state::State;
use crate::value::{SlotExt, Value};

impl Thread {
    /// Creates a coroutine with an empty stack.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn create(st: &mut State, small: bool) -> *mut Thread {
        let capacity = if small { MIN_FREE + 2 } else { INITIAL_STACK };
        let spare = if small { None } else { st.heap.take_spare_thread() };
        let stack = match &spare {
            Some(spare) => fill(spare.stack, capacity),
            None => alloc_stack(&mut st.heap.memory, capacity),
        };
        let header = GcHeader { kind: Kind::Thread, mark: 0, flags: 0, aux: 0, word: 0 };
        let thread = Thread {
            header,
            stack,
            capacity,
            base: stack,
            top: stack,
            open: null_mut(),
            to_close: Vec::new(),
            returning: Vec::new(),
            status: Status::Suspended,
            failed: false,
            death: Value::NIL,
            death_kind: ErrorKind::Value,
            resumer: null_mut(),
            non_yieldable: 0,
            depth: 0,
            high_water: stack,
            hook: None,
            is_quiet: false,
            hook_transfer: (0, 0),
            hook_yields: false,
            hook_yielded: None,
            has_bottom: false,
            yielded_in_call: None,
            companion: Companion::NONE,
        };
        let bytes = size_of::<Thread>() + capacity * size_of::<Value>();
        let Some(spare) = spare else { return st.make_boxed(thread, bytes) };
        spare.thread.write(thread);
        st.adopt(spare.thread.cast(), bytes);
        spare.thread
    }

    /// Prepares a coroutine that is closed or was never started to call `f`.
    ///
    /// # Safety
    /// All arguments are live, and no frame of the coroutine is needed any more.
    pub unsafe fn restart(st: &mut State, th: *mut Thread, f: Value) {
        (*th).stack.put(f);
        (*th).stack.add(1).put(Value::NIL);
        (*th).base = (*th).stack;
        (*th).top = (*th).stack.add(2);
        (*th).status = Status::Suspended;
        (*th).failed = false;
        (*th).death = Value::NIL;
        (*th).non_yieldable = 0;
        (*th).hook_yielded = None;
        (*th).has_bottom = false;
        (*th).yielded_in_call = None;
        st.barrier(th.cast());
    }

    /// Makes `th` the running coroutine, by loading its registers into the state.
    ///
    /// # Safety
    /// Both are live, and the registers of the previously running coroutine were saved.
    #[inline(always)]
    pub unsafe fn load_registers(st: *mut State, th: *mut Thread) {
        (*st).thread = th;
        (*st).base = (*th).base;
        (*st).top = (*th).top;
        (*st).limit = (*th).stack.add((*th).capacity - MIN_FREE);
    }

    /// Saves the state's registers in its running coroutine.
    ///
    /// # Safety
    /// `st` is live.
    #[inline(always)]
    pub unsafe fn save_registers(st: *mut State) {
        (*(*st).thread).base = (*st).base;
        (*(*st).thread).top = (*st).top;
    }
}

impl State {
    /// Creates a coroutine that will call `f`.
    ///
    /// # Safety
    /// `f` is a live value of this state.
    pub unsafe fn new_thread(st: *mut State, f: Value) -> *mut Thread {
        let th = Thread::create(&mut *st, (*st).small_stack);
        (*th).stack.put(f);
        // The slots of the callee and of the header, for the function to call first. Its arguments
        // are passed with the first resume.
        (*th).stack.add(1).put(Value::NIL);
        (*th).top = (*th).stack.add(2);
        (*th).companion = (*(*st).main_thread).companion.inherited();
        let inherited = (*(*st).thread).hook.as_ref().and_then(|hook| hook.inherited());
        (*th).hook = inherited.map(Box::new).or_else(|| (*st).hook_of_new.clone());
        th
    }
}
