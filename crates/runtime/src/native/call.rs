//! Calling back: functions, metamethods, coroutines.

use super::{Cx, NativeResult, Raised, Ret, Str, Tab, Val};
use crate::convert;
use crate::debug::runtime_error;
use crate::frame::{Frame, flags};
use crate::meta::Event;
use crate::state::State;
use crate::table::Table;
use crate::thread::{Status, Thread};
use crate::value::{SlotExt, Value};

/// The outcome of resuming a coroutine.
pub enum Resumed {
    /// It yielded or returned this number of values, which are on top of the stack.
    Values(usize),
    /// It failed; the error value is on top of the stack.
    Failed,
}

/// The outcome of the call for which a native function waited.
pub enum StepResult {
    /// The number of results, which are on top of the stack.
    Returned(usize),
    /// The call failed (seen in protected calls only); the error value is on top of the stack.
    Failed,
}

impl Cx {
    /// Pushes a function and the header slot of its frame; arguments are pushed next.
    pub fn push_callee(&self, f: Val<'_>) {
        self.push(f);
        self.push(Val::NIL);
    }

    /// Calls the function pushed with [`Cx::push_callee`] with the `nargs` values pushed since. The
    /// results replace function and arguments; returns their number. The callee cannot yield across
    /// this call.
    ///
    /// # Errors
    /// Returns the error that the function raises.
    pub fn call(&mut self, nargs: usize) -> Result<usize, Raised> {
        // SAFETY: N1; the callee, its header slot and the arguments lie on top.
        unsafe {
            let st = self.state();
            assert!(nargs + 2 <= self.top());
            let callee = (*st).top.sub(nargs + 2);
            ((*st).vm.call)(st, callee, nargs)
        }
    }

    /// Calls value `f` of the stack with its values `x` and `y`, and returns whether the first
    /// result is true. Leaves nothing on the stack.
    ///
    /// # Errors
    /// Returns the error that the function raises.
    ///
    /// # Panics
    /// Panics if one of the values does not exist, or nothing can be pushed.
    pub fn call_test(&mut self, f: usize, x: usize, y: usize) -> Result<bool, Raised> {
        // SAFETY: N1; the values are below the top, and there is room for the call.
        unsafe {
            let st = self.state();
            let (base, callee) = ((*st).base, (*st).top);
            assert!(f.max(x).max(y) < self.top() && callee.add(3) < (*st).hard_limit());
            callee.put(base.add(f).get());
            callee.add(1).put(Value::NIL);
            callee.add(2).put(base.add(x).get());
            callee.add(3).put(base.add(y).get());
            (*st).top = callee.add(4);
            let n = ((*st).vm.call)(st, callee, 2)?;
            let results = (*st).top.sub(n);
            (*st).top = results;
            Ok(n > 0 && results.get().truthy())
        }
    }

    /// Like [`Cx::call`], with exactly `want` results (truncated, or filled with nil).
    ///
    /// # Errors
    /// Returns the error that the function raises.
    pub fn call_n(&mut self, nargs: usize, want: usize) -> Result<(), Raised> {
        let got = self.call(nargs)?;
        for _ in got..want {
            self.push(Val::NIL);
        }
        if got > want {
            self.pop(got - want);
        }
        Ok(())
    }

    /// Like [`Cx::call`], but catches an error: returns `Err`, with the error value pushed instead
    /// of results. The message handlers of enclosing calls are not called.
    #[allow(clippy::result_unit_err)] // the error is a value on the stack
    pub fn call_protected(&mut self, nargs: usize) -> Result<usize, ()> {
        /// Makes the frame an ordinary one again when dropped, also after a panic.
        struct Marked(*mut Thread, usize);
        impl Drop for Marked {
            fn drop(&mut self) {
                // SAFETY: the thread runs this function, whose frame is in place.
                unsafe { Frame((*self.0).stack.add(self.1)).clear_flags(flags::PROTECTED) };
            }
        }
        // SAFETY: N1: the frame of this function is on top. A call from native code enters a
        // boundary frame, and errors do not propagate beyond it to a protected frame, so the flag
        // only ends the search for handlers.
        let _marked = unsafe {
            let st = self.state();
            Frame((*st).base).add_flags(flags::PROTECTED);
            Marked((*st).thread, self.base_offset())
        };
        self.call_handled(nargs)
    }

    /// Like [`Cx::call_protected`], but an error is passed to the message handler of the enclosing
    /// protected call where it is raised, as if this call were not protected.
    #[allow(clippy::result_unit_err)] // the error is a value on the stack
    pub fn call_handled(&mut self, nargs: usize) -> Result<usize, ()> {
        let kept = self.top() - nargs - 2;
        let base = self.base_offset();
        match self.call(nargs) {
            Ok(n) => Ok(n),
            Err(Raised { .. }) => {
                // SAFETY: N1; the frame of this function is still in place.
                unsafe { State::recover(self.state(), base, kept, false) };
                Err(())
            }
        }
    }

    /// Catches an error that this function itself raised: enclosing message handlers are called,
    /// and the error value is pushed.
    pub fn catch(&mut self, _: Raised) {
        let (base, kept) = (self.base_offset(), self.top());
        // SAFETY: N1; the frame of this function is on top and stays in place.
        unsafe {
            let st = self.state();
            ((*st).vm.handle)(st);
            State::recover(st, base, kept, false);
        }
    }

    fn base_offset(&self) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).base.offset_from((*(*self.state()).thread).stack) as usize }
    }

    /// Ends this step of the function with a request: to call the function pushed with
    /// [`Cx::push_callee`] with the `nargs` values pushed since, and then to run this function
    /// again at `step`, with its current stack below the callee and the results on top
    /// ([`Cx::step_result`]). The callee may yield.
    pub fn call_then(&self, nargs: usize, step: u32) -> NativeResult {
        let kept = self.top() - nargs - 2;
        self.set_step(step, kept);
        Ok(Ret::CALL)
    }

    /// Like [`Cx::call_then`], but an error in the call is caught, after which this function also
    /// runs again at `step`. With `handler`, value 0 of the stack is a message handler, which is
    /// called with the error where it is raised.
    pub fn call_protected_then(&self, nargs: usize, step: u32, handler: bool) -> NativeResult {
        let bits = if handler { flags::PROTECTED | flags::HANDLER } else { flags::PROTECTED };
        // SAFETY: N1.
        unsafe { Frame((*self.state()).base).add_flags(bits) };
        self.call_then(nargs, step)
    }

    /// Returns the outcome of the call for which this step waited.
    pub fn step_result(&self) -> StepResult {
        // SAFETY: N1.
        unsafe {
            let f = Frame((*self.state()).base);
            if f.link().flags() & flags::CLOSING != 0 {
                StepResult::Failed
            } else {
                StepResult::Returned(self.top() - self.kept())
            }
        }
    }

    /// Suspends the running coroutine with the last `n` values. When it is resumed, this function
    /// runs again at `step` with the arguments of `resume` on top.
    ///
    /// # Errors
    /// Returns "attempt to yield from outside a coroutine" or "attempt to yield across a C-call
    /// boundary".
    pub fn yield_then(&self, n: usize, step: u32) -> NativeResult {
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            if (*(*st).thread).non_yieldable > 0 {
                let message: &[u8] = if (*st).thread == (*st).main_thread {
                    b"attempt to yield from outside a coroutine"
                } else {
                    b"attempt to yield across a C-call boundary"
                };
                // A native function has no position, but a hook of C code fails at the one of the
                // Lua function for which it was called.
                return Err(self.error_plain([&self.position(0), message].concat()));
            }
        }
        self.set_step(step, self.top() - n);
        Ok(Ret::YIELD)
    }

    /// Returns whether the running function may yield.
    pub fn is_yieldable(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*(*self.state()).thread).non_yieldable == 0 }
    }

    /// Returns whether a coroutine may yield at its current position.
    ///
    /// # Panics
    /// Panics if `co` is not a coroutine.
    pub fn thread_is_yieldable(&self, co: Val<'_>) -> bool {
        assert!(co.is_thread());
        // SAFETY: N2.
        unsafe { (*co.raw().as_thread()).non_yieldable == 0 }
    }

    /// Makes a coroutine that will run `f`.
    pub fn new_thread(&self, f: Val<'_>) -> Val<'_> {
        // SAFETY: N1, N2.
        unsafe { Val::new(Value::thread(State::new_thread(self.state(), f.raw()))) }
    }

    /// Returns the running coroutine, and whether it is the main one.
    pub fn running(&self) -> (Val<'_>, bool) {
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            (Val::new(Value::thread((*st).thread)), (*st).thread == (*st).main_thread)
        }
    }

    /// Returns the status of a coroutine.
    ///
    /// # Panics
    /// Panics if `co` is not a coroutine.
    pub fn thread_status(&self, co: Val<'_>) -> Status {
        assert!(co.is_thread());
        // SAFETY: N2.
        unsafe {
            let th = co.raw().as_thread();
            match (*th).status {
                // A host may still push a function on an idle coroutine.
                Status::Suspended if Thread::is_idle(th) && (*th).top == (*th).base => Status::Dead,
                Status::Dead if Thread::can_begin_again(th) => Status::Suspended,
                status => status,
            }
        }
    }

    /// Returns the error that has ended a coroutine and that no closing has reported yet.
    ///
    /// # Panics
    /// Panics if `co` is not a coroutine.
    pub fn thread_error(&self, co: Val<'_>) -> Option<Val<'_>> {
        assert!(co.is_thread());
        // SAFETY: N2; the coroutine keeps the error.
        unsafe {
            let th = co.raw().as_thread();
            (*th).failed.then(|| Val::new((*th).death))
        }
    }

    /// Resumes the coroutine at value `co` with the last `nargs` values, which are removed. An
    /// attempt to resume a coroutine that cannot be resumed fails like an error in it.
    ///
    /// # Panics
    /// Panics if value `co` is not a coroutine.
    pub fn resume(&mut self, co: usize, nargs: usize) -> Resumed {
        assert!(self.get(co).is_thread() && nargs <= self.top());
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            let co = self.get(co).raw().as_thread();
            match ((*st).vm.resume)(st, co, nargs) {
                Ok(n) => Resumed::Values(n),
                Err(_) => {
                    let e = (*st).error;
                    (*st).error = Value::NIL;
                    self.push(Val::new(e));
                    Resumed::Failed
                }
            }
        }
    }

    /// Closes the coroutine at value `co`, which is suspended or dead. On failure, pushes its error
    /// value and returns false.
    ///
    /// # Panics
    /// Panics if value `co` is not a coroutine.
    pub fn close_thread(&mut self, co: usize) -> bool {
        assert!(self.get(co).is_thread());
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            let co = self.get(co).raw().as_thread();
            match ((*st).vm.close)(st, co) {
                Ok(()) => true,
                Err(_) => {
                    let e = (*st).error;
                    (*st).error = Value::NIL;
                    self.push(Val::new(e));
                    false
                }
            }
        }
    }

    /// Returns the metamethod of a value for an event; nil if there is none.
    pub fn metamethod(&self, v: Val<'_>, e: Event) -> Val<'_> {
        // SAFETY: N1, N2.
        unsafe { Val::new(Table::metamethod(&mut *self.state(), v.raw(), e)) }
    }

    /// Pushes `object[key]`, with metamethods.
    ///
    /// # Errors
    /// Returns the errors of metamethods, or "attempt to index …".
    pub fn index(&mut self, object: usize, key: Value) -> Result<(), Raised> {
        let mut object = self.get(object).raw();
        for _ in 0..Table::MAX_CHAIN {
            let handler = match Val::new(object).as_table() {
                Some(t) => {
                    let v = t.get(Val::new(key));
                    if !v.is_nil() || !t.has_meta() {
                        self.push(Val::new(v.raw()));
                        return Ok(());
                    }
                    let h = self.metamethod(t.val(), Event::Index);
                    if h.is_nil() {
                        self.push(Val::NIL);
                        return Ok(());
                    }
                    h
                }
                None => {
                    let h = self.metamethod(Val::new(object), Event::Index);
                    if h.is_nil() {
                        return Err(self.index_error(Val::new(object), Val::new(key)));
                    }
                    h
                }
            };
            if handler.as_func().is_some() {
                self.push_callee(Val::new(handler.raw()));
                self.push(Val::new(object));
                self.push(Val::new(key));
                return self.call_n(2, 1);
            }
            object = handler.raw();
        }
        // SAFETY: N1.
        Err(unsafe { runtime_error(self.state(), b"'__index' chain too long; possible loop") })
    }

    /// Pops the last value and assigns it to `object[key]`, with metamethods.
    ///
    /// # Errors
    /// Returns the errors of metamethods, or "attempt to index …".
    pub fn set_index(&mut self, object: usize, key: Value) -> Result<(), Raised> {
        let mut object = self.get(object).raw();
        for _ in 0..Table::MAX_CHAIN {
            let v = self.get(self.top() - 1);
            let handler = match Val::new(object).as_table() {
                Some(t) => {
                    let h = if t.has_meta() && t.get(Val::new(key)).is_nil() {
                        self.metamethod(t.val(), Event::NewIndex)
                    } else {
                        Val::NIL
                    };
                    if h.is_nil() {
                        if let Some(bytes) = t.set_within(self, Val::new(key), v)? {
                            // The value is on the stack, and the caller keeps object and key alive.
                            self.make_room(bytes)?;
                            let v = self.get(self.top() - 1);
                            let t = Val::new(object).as_table();
                            let t = t.expect("it was one a moment ago");
                            if t.set_within(self, Val::new(key), v)?.is_some() {
                                return Err(self.memory_error());
                            }
                        }
                        self.pop(1);
                        return Ok(());
                    }
                    h
                }
                None => {
                    let h = self.metamethod(Val::new(object), Event::NewIndex);
                    if h.is_nil() {
                        return Err(self.index_error(Val::new(object), Val::new(key)));
                    }
                    h
                }
            };
            if handler.as_func().is_some() {
                let v = v.raw();
                self.push_callee(Val::new(handler.raw()));
                self.push(Val::new(object));
                self.push(Val::new(key));
                self.push(Val::new(v));
                self.call_n(3, 0)?;
                self.pop(1);
                return Ok(());
            }
            object = handler.raw();
        }
        // SAFETY: N1.
        Err(unsafe { runtime_error(self.state(), b"'__newindex' chain too long; possible loop") })
    }

    /// Returns `#object`, with metamethods.
    ///
    /// # Errors
    /// Returns "object length is not an integer", "attempt to get length of …", or the error of a
    /// metamethod.
    pub fn length(&mut self, object: usize) -> Result<i64, Raised> {
        let v = self.get(object);
        let h = match (v.as_str(), v.as_table()) {
            (Some(s), _) => return Ok(s.bytes().len() as i64),
            (_, Some(t)) if !t.has_meta() => return Ok(t.len()),
            _ => self.metamethod(v, Event::Len),
        };
        if h.is_nil() {
            return match v.as_table() {
                Some(t) => Ok(t.len()),
                None => Err(self.operand_error("get length of", v)),
            };
        }
        let (h, v) = (h.raw(), v.raw());
        self.push_callee(Val::new(h));
        self.push(Val::new(v));
        self.push(Val::new(v));
        self.call_n(2, 1)?;
        let n = self.get(self.top() - 1).raw();
        self.pop(1);
        // SAFETY: N1: a number or string just returned.
        unsafe { convert::to_integer(n) }
            .ok_or_else(|| self.error("object length is not an integer"))
    }

    /// Returns `a < b`, with metamethods.
    ///
    /// # Errors
    /// Returns "attempt to compare …", or the error of a metamethod.
    pub fn less_than(&mut self, a: Value, b: Value) -> Result<bool, Raised> {
        // SAFETY: N1: both come from the stack or from a table that is on it.
        if let Some(r) = unsafe { crate::compare::less_than(a, b) } {
            return Ok(r);
        }
        let mut h = self.metamethod(Val::new(a), Event::Lt);
        if h.is_nil() {
            h = self.metamethod(Val::new(b), Event::Lt);
        }
        if h.is_nil() {
            return Err(self.compare_error(Val::new(a), Val::new(b)));
        }
        let h = h.raw();
        self.push_callee(Val::new(h));
        self.push(Val::new(a));
        self.push(Val::new(b));
        self.call_n(2, 1)?;
        let r = self.get(self.top() - 1).truthy();
        self.pop(1);
        Ok(r)
    }

    /// Pushes the string that `tostring` returns for value `i` (manual 6.1), with `__tostring` and
    /// `__name`.
    ///
    /// # Errors
    /// Returns "'__tostring' must return a string", or the error of the metamethod.
    pub fn push_tostring(&mut self, i: usize) -> Result<(), Raised> {
        let v = self.get(i);
        let h = self.metamethod(v, Event::ToString);
        if !h.is_nil() {
            let (h, v) = (h.raw(), v.raw());
            self.push_callee(Val::new(h));
            self.push(Val::new(v));
            self.call_n(1, 1)?;
            let r = self.get(self.top() - 1);
            if r.as_str().is_none() {
                if r.is_number() {
                    let s = self.number_to_str(r);
                    self.pop(1);
                    self.push(s.val());
                } else {
                    return Err(self.error("'__tostring' must return a string"));
                }
            }
            return Ok(());
        }
        // a name may have any length
        self.check_room(self.type_name_of(v).len())?;
        let s = self.plain_tostring(v);
        self.push(s.val());
        Ok(())
    }

    /// Returns the result of `tostring` without `__tostring`.
    pub fn plain_tostring(&self, v: Val<'_>) -> Str<'_> {
        if let Some(s) = v.as_str() {
            return Str(Val::new(s.val().raw()));
        }
        if v.is_number() {
            return self.number_to_str(v);
        }
        match v.as_bool() {
            Some(true) => return self.str(b"true"),
            Some(false) => return self.str(b"false"),
            None if v.is_nil() => return self.str(b"nil"),
            None => {}
        }
        let given = self.metatable_of(v).map(|m| m.get_name(self, "__name")).and_then(Val::as_str);
        let name = match &given {
            Some(n) => crate::cfmt::c_str(n.bytes()),
            None => v.type_name().as_bytes(),
        };
        const ADDRESS: usize = ": 0x".len() + 2 * size_of::<u64>();
        let mut text = Vec::with_capacity(name.len() + ADDRESS);
        text.extend_from_slice(name);
        let address = v.address().unwrap_or(v.raw().bits());
        if address == 0 {
            // a null pointer as a light userdata, as `%p` of the C library shows it
            text.extend_from_slice(b": (nil)");
            return self.str(&text);
        }
        text.extend_from_slice(b": 0x");
        let digits = (u64::BITS - address.leading_zeros()).div_ceil(4);
        let digit = |n: u32| b"0123456789abcdef"[(address >> (4 * n) & 0xF) as usize];
        text.extend((0..digits).rev().map(digit));
        self.str(&text)
    }

    /// Runs an operation that may take long and does not use the state, such as waiting for input.
    /// While it runs, the reclamation of machine code does not wait for this state.
    pub fn blocking<R>(&self, f: impl FnOnce() -> R + Send) -> R {
        /// Unblocks the state when dropped, also after a panic.
        struct Blocked(*mut State);
        impl Drop for Blocked {
            fn drop(&mut self) {
                // SAFETY: N1: the state outlives the native function; nothing else refers to its
                // tier now.
                if let Some(tier) = unsafe { (&mut (*self.0).tier).as_mut() } {
                    tier.unblock();
                }
            }
        }
        let st = self.state();
        // SAFETY: N1: the frame of this function is on top. `f` cannot reach the state, as anything
        // that could is not `Send`.
        if let Some(tier) = unsafe { (&mut (*st).tier).as_mut() } {
            tier.block();
        }
        let _blocked = Blocked(st);
        f()
    }

    /// Copies `n` values of a table's array, from index `first` on, to the stack.
    ///
    /// # Errors
    /// Returns an error when there is no room on the stack.
    pub fn push_array(&self, t: Tab<'_>, first: i64, n: usize) -> Result<(), Raised> {
        self.reserve(n)?;
        // SAFETY: N1; room was just made.
        unsafe {
            let st = self.state();
            for i in 0..n as i64 {
                (*st).top.put(t.get_int(first + i).raw());
                (*st).top = (*st).top.add(1);
            }
        }
        Ok(())
    }
}
