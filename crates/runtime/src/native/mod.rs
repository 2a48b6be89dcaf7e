//! Native functions, and their safe view of a state ([`Cx`]).
//!
//! A native function sees a stack of values: at entry its arguments, numbered from 0. It pushes
//! results, and returns how many of the topmost values are results. The values it receives are
//! [`Val`]s, which borrow the `Cx`: every operation that may run Lua code or collect takes `&mut
//! self` and so ends their lifetimes. Values that must live longer stay on the stack.

mod args;
mod array;
mod builtin;
mod call;
mod collector;
mod exit;
mod interrupt;
mod levels;
mod load;
mod make;
mod recover;
mod upvalue;
mod val;
mod warning;

use std::cell::UnsafeCell;

pub use array::NumberArray;
pub use builtin::Builtin;
pub use call::{Resumed, StepResult};
pub use interrupt::StopSign;
pub use levels::{HookSetting, LevelInfo};
pub use val::{Func, Str, Tab, Udata, Val};

pub use crate::raised::{ErrorKind, Raised};

use crate::frame::{Frame, FrameWord};
use crate::random::Random;
use crate::state::State;
use crate::value::{SlotExt, Value};

/// The outcome of a native function: results, or a request to the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ret(pub i32);

impl Ret {
    /// One result, which is already in the callee's slot.
    pub const IN_PLACE: Ret = Ret(-1);
    /// Requests a call of the function that was pushed last with [`Cx::push_callee`]; this function
    /// then runs again at the step that was set.
    pub const CALL: Ret = Ret(-2);
    /// Requests that the coroutine be suspended; it yields the values above those that the function
    /// keeps ([`Cx::kept`]).
    pub const YIELD: Ret = Ret(-3);
}

/// The result of a native function.
pub type NativeResult = Result<Ret, Raised>;

/// A function of the host.
pub type NativeFn = fn(&mut Cx) -> NativeResult;

/// A state as native functions see it.
#[repr(transparent)]
pub struct Cx {
    state: UnsafeCell<State>,
}

impl Cx {
    /// Creates the view of a state.
    ///
    /// # Safety
    /// `st` is a live state whose top frame is that of the native function that receives the
    /// result, and is not used otherwise while the `Cx` is used.
    #[inline(always)]
    pub unsafe fn from_state<'a>(st: *mut State) -> &'a mut Cx {
        &mut *st.cast::<Cx>()
    }

    /// Returns the state, for code that upholds the runtime's invariants itself.
    #[inline(always)]
    pub fn state(&self) -> *mut State {
        self.state.get()
    }

    /// Returns the generator of random numbers.
    #[inline(always)]
    pub fn random(&self) -> &Random {
        // SAFETY: N1; the state lives longer than the Cx, and the generator is only used through
        // shared references.
        unsafe { &(*self.state()).random }
    }

    #[inline(always)]
    fn base(&self) -> *mut Value {
        // SAFETY: N1 (a Cx is only lent to the running native function): the state is alive and its
        // frame is on top.
        unsafe { (*self.state()).base }
    }

    /// Returns the number of values on the function's stack; at entry, of its arguments.
    #[inline(always)]
    pub fn top(&self) -> usize {
        // SAFETY: N1; base and top are of the same stack.
        unsafe { (*self.state()).top.offset_from(self.base()) as usize }
    }

    /// Returns value `i`, or nil beyond the top.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Val<'_> {
        // SAFETY: N1; slots below the top are initialized.
        unsafe { if i < self.top() { Val::new(self.base().add(i).get()) } else { Val::NIL } }
    }

    /// Returns whether `i` is beyond the top.
    #[inline(always)]
    pub fn is_none(&self, i: usize) -> bool {
        i >= self.top()
    }

    /// Overwrites value `i`.
    ///
    /// # Panics
    /// Panics if it does not exist.
    #[inline]
    pub fn set(&self, i: usize, v: Val<'_>) {
        assert!(i < self.top());
        // SAFETY: N1; just checked.
        unsafe { self.base().add(i).put(v.raw()) }
    }

    /// Makes room for `n` more values.
    ///
    /// # Errors
    /// Returns "stack overflow" when the coroutine's stack would become too large.
    pub fn reserve(&self, n: usize) -> Result<(), Raised> {
        // SAFETY: N1.
        unsafe { State::reserve(self.state(), n) }
    }

    /// Pushes a value. More values than the room that every native function has
    /// ([`crate::thread::MIN_FREE`]) must be reserved first.
    ///
    /// # Panics
    /// Panics if there is no room.
    #[inline(always)]
    pub fn push(&self, v: Val<'_>) {
        // SAFETY: N1; a frame has MIN_FREE slots past `limit`, checked here.
        unsafe {
            let st = self.state();
            let top = (*st).top;
            assert!(top < (*st).hard_limit(), "native function pushes without reserving");
            top.put(v.raw());
            (*st).top = top.add(1);
        }
    }

    /// Removes the last `n` values.
    ///
    /// # Panics
    /// Panics if there are fewer.
    #[inline]
    pub fn pop(&self, n: usize) {
        assert!(n <= self.top());
        // SAFETY: N1; just checked.
        unsafe { (*self.state()).top = (*self.state()).top.sub(n) }
    }

    /// Truncates the stack, or extends it with nil, to `n` values.
    ///
    /// # Panics
    /// Panics if there is no room.
    pub fn set_top(&self, n: usize) {
        while self.top() < n {
            self.push(Val::NIL);
        }
        self.pop(self.top() - n);
    }

    /// Inserts a value before value `i`.
    ///
    /// # Panics
    /// Panics if there are fewer than `i` values, or no room.
    pub fn insert(&self, i: usize, v: Val<'_>) {
        let n = self.top();
        assert!(i <= n);
        self.push(v);
        // SAFETY: N1; slots i..=n exist now.
        unsafe {
            let base = self.base();
            for j in (i..n).rev() {
                base.add(j + 1).put(base.add(j).get());
            }
            base.add(i).put(v.raw());
        }
    }

    /// Makes room for `n` more values before value `at`; they are nil at first.
    ///
    /// # Panics
    /// Panics if there are fewer than `at` values, or no room.
    #[inline]
    pub fn open_gap(&self, at: usize, n: usize) {
        let top = self.top();
        assert!(at <= top);
        for _ in 0..n {
            self.push(Val::NIL);
        }
        // SAFETY: N1; slots below top + n exist now. Values are copied one by one: they were just
        // written in halves, and a wider copy would stall.
        unsafe {
            let place = self.base().add(at);
            for i in (0..top - at).rev() {
                place.add(i + n).put(place.add(i).get());
            }
            for i in 0..n {
                place.add(i).put(Value::NIL);
            }
        }
    }

    /// Removes value `i`.
    ///
    /// # Panics
    /// Panics if it does not exist.
    pub fn remove(&self, i: usize) {
        let n = self.top();
        assert!(i < n);
        // SAFETY: N1; slots i..n exist.
        unsafe {
            let base = self.base();
            for j in i + 1..n {
                base.add(j - 1).put(base.add(j).get());
            }
        }
        self.pop(1);
    }

    /// Ends the function with the last `n` values as results.
    #[inline(always)]
    pub fn ret(&self, n: usize) -> NativeResult {
        debug_assert!(n <= self.top());
        Ok(Ret(n as i32))
    }

    /// Ends the function with one result.
    #[inline(always)]
    pub fn ret1(&self, v: Val<'_>) -> NativeResult {
        // SAFETY: N1; the callee's slot is below every frame's header, and the function no longer
        // needs its closure.
        unsafe { self.base().sub(2).put(v.raw()) };
        Ok(Ret::IN_PLACE)
    }

    /// Returns the step at which the function runs: 0 at first, later the one requested with
    /// [`Cx::call_then`] or [`Cx::yield_then`].
    #[inline(always)]
    pub fn step(&self) -> u32 {
        // SAFETY: N1; the frame's header is in place.
        unsafe { Frame(self.base()).word().pc() & 0xFF }
    }

    /// Sets the frame's step. The upper bits hold the number of values kept below a call's results.
    pub fn set_step(&self, step: u32, kept: usize) {
        assert!(step < 256 && kept < 1 << 24);
        // SAFETY: N1.
        unsafe { Frame(self.base()).set_word(FrameWord::waiting(step, kept as u32)) }
    }

    /// Returns the number of values that the function kept on its stack below the results of its
    /// call.
    pub fn kept(&self) -> usize {
        // SAFETY: N1.
        unsafe { (Frame(self.base()).word().pc() >> 8) as usize }
    }

    /// Returns bound value `i` of the running closure.
    ///
    /// # Panics
    /// Panics if it does not exist.
    #[inline]
    pub fn bound(&self, i: usize) -> Val<'_> {
        // SAFETY: N1; the callee of a native frame is its native closure.
        unsafe {
            let f = Frame(self.base()).callee().as_native();
            assert!(i < (*f).header.aux as usize);
            Val::new(crate::closure::NativeClosure::bound(f, i).get())
        }
    }

    /// Returns the number of bound values of the running closure.
    pub fn bound_count(&self) -> usize {
        // SAFETY: N1; the callee of a native frame is its native closure.
        unsafe { (*Frame(self.base()).callee().as_native()).header.aux as usize }
    }

    /// Overwrites bound value `i` of the running closure.
    ///
    /// # Panics
    /// Panics if it does not exist.
    #[inline]
    pub fn set_bound(&self, i: usize, v: Val<'_>) {
        // SAFETY: N1; as above, with the barrier after the store.
        unsafe {
            let f = Frame(self.base()).callee().as_native();
            assert!(i < (*f).header.aux as usize);
            crate::closure::NativeClosure::bound(f, i).put(v.raw());
            (*self.state()).barrier(f.cast());
        }
    }
}
