//! Access to a state in the form in which native functions receive it.

use perilune_runtime::native::Cx;
use perilune_runtime::state::State;

use crate::Lua;
use crate::control::Control;
use crate::stack::Online;

impl Lua {
    /// Runs `f` with the state in the form in which native functions receive it, and removes the
    /// values that `f` leaves on the stack. While `f` runs, nothing else may use the state, except
    /// functions of the host that `f` calls through it. This function is intended for the command
    /// and the libraries of this repository; other programs do not need it.
    ///
    /// # Safety
    /// `f` passes no value of one state to another one, does not exchange the [`Cx`]s of two
    /// states, and calls no function of [`Cx`] that concerns the running native function, such as
    /// [`Cx::bound`]: there is none.
    ///
    /// # Panics
    /// Panics if `f`, or a native function that it calls, panics. The state can be used afterwards:
    /// the frames above are removed without calling `__close`, and coroutines that were running are
    /// dead. Also panics if `f` uses a handle of the state.
    pub unsafe fn with<R>(&self, f: impl FnOnce(&mut Cx) -> R) -> R {
        let entry = self.enter();
        let _lent = Lent::new(&self.control);
        // SAFETY: P1: the state is alive, on this thread or locked, and lent: no operation finds it
        // until `f` has returned.
        let cx = unsafe { Cx::from_state(entry.st) };
        let _inside = Online::new(entry.st);
        let _values = Values { state: entry.st, top: cx.top() };
        f(cx)
    }
}

/// Marks the state as lent: operations do not find it.
struct Lent<'a> {
    control: &'a Control,
    state: *mut State,
}

impl<'a> Lent<'a> {
    fn new(control: &'a Control) -> Lent<'a> {
        Lent { control, state: control.state.replace(std::ptr::null_mut()) }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.control.state.set(self.state);
    }
}

/// The host's values on the stack. They are removed at the end, also after a panic.
struct Values {
    state: *mut State,
    top: usize,
}

impl Drop for Values {
    fn drop(&mut self) {
        // SAFETY: P1; calls left by a panic have restored the top frame.
        unsafe { Cx::from_state(self.state) }.set_top(self.top);
    }
}
