//! Functions of the host: Rust closures that Lua calls.

use std::cell::{RefCell, RefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Ret, Val};
use perilune_runtime::state::State;

use crate::cell::HostCell;
use crate::control::Control;
use crate::failure::Failure;
use crate::stack::{Raw, Stack};
use crate::sync::XRc;
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::{Error, Function, Lua, Result};

/// A callee that takes its arguments from the stack and leaves its results there.
pub(crate) trait Callee<A, R>: 'static {
    /// Calls the callee with the `n` values of the stack that start at `at`, pushes the results and
    /// returns their number.
    ///
    /// # Safety
    /// `s` is the stack of the running native function.
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize>;
}

/// A closure `Fn(&Lua, A) -> Result<R>`.
pub(crate) struct Plain<F>(pub(crate) F);

impl<F, A, R> Callee<A, R> for Plain<F>
where
    F: Fn(&Lua, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let args = A::from_stack_args(at, n, 1, None, s)?;
        (self.0)(s.lua, args)?.push_into_stack_multi(s)
    }
}

/// A closure `FnMut(&Lua, A) -> Result<R>`.
pub(crate) struct Mutable<F>(pub(crate) RefCell<F>);

/// Borrows a closure that only one call at a time may run.
///
/// # Errors
/// Returns [`Error::RecursiveMutCallback`] while the closure is running.
#[inline(always)]
pub(crate) fn alone<F>(f: &RefCell<F>) -> Result<RefMut<'_, F>> {
    f.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)
}

impl<F, A, R> Callee<A, R> for Mutable<F>
where
    F: FnMut(&Lua, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let mut f = alone(&self.0)?;
        let r = f(s.lua, A::from_stack_args(at, n, 1, None, s)?)?;
        drop(f);
        r.push_into_stack_multi(s)
    }
}

/// Makes the state available to operations while a callback runs, even if an enclosing
/// [`Lua::with`] has lent it.
struct Open<'a> {
    control: &'a Control,
    before: *mut State,
}

impl Drop for Open<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.control.state.set(self.before);
    }
}

/// The native function of callees of type `C`. The callee is its bound value.
fn enter<A, R, C: Callee<A, R>>(cx: &mut Cx) -> NativeResult {
    let n = cx.top();
    // SAFETY: the function is bound to the cell of a `C`, which Lua cannot change (HIDDEN), and
    // alive, as it is the callee of the running frame; the value is never taken.
    let callee = unsafe { &*bound::<C>(cx) };
    // SAFETY: the stack is that of this function.
    inside(cx, |s| unsafe { callee.run(s, 0, n) }).map(|n| Ret(n as i32))
}

/// Runs code of the host in a native function. Its errors are raised as Lua errors, and so are its
/// panics if the state's options ask for that.
#[inline(always)]
pub(crate) fn inside<R>(
    cx: &mut Cx,
    f: impl FnOnce(Stack<'_>) -> Result<R>,
) -> std::result::Result<R, Raised> {
    let st = cx.state();
    // SAFETY: N1: the state is alive, and the caller into it counts as an owner.
    let lua = unsafe { Lua::borrowed(st) };
    let control: &Control = &lua.control;
    let open = Open { control, before: control.state.replace(st) };
    let s = Stack { st, lua: &lua };
    let run = || f(s).map_err(|e| Failure::Error(e).raise(s));
    let r = if control.options.catch_rust_panics {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(r) => r,
            Err(panic) => Err(Failure::Panic(Some(panic)).raise(s)),
        }
    } else {
        run()
    };
    drop(open);
    r
}

/// Returns the callee that the running native function is bound to.
///
/// # Safety
/// The function is bound to the cell of a `C`, which Lua cannot change (HIDDEN).
#[inline(always)]
pub(crate) unsafe fn bound<C: 'static>(cx: &Cx) -> *const C {
    bound_at(cx, 0)
}

/// Returns bound value number `i` of the running native function.
///
/// # Safety
/// See [`bound`].
#[inline(always)]
pub(crate) unsafe fn bound_at<C: 'static>(cx: &Cx, i: usize) -> *const C {
    let u = cx.bound(i).raw().as_userdata();
    let data = (&(*u).data).as_deref().unwrap_unchecked();
    HostCell::value((&raw const *data).cast::<HostCell<C>>().cast_mut())
}

impl<'a> Stack<'a> {
    /// Creates a function of the host. `local` says that the callee is not known to be `Send`.
    pub(crate) fn function<A, R, C: Callee<A, R>>(
        self,
        callee: C,
        local: bool,
    ) -> Result<Function> {
        self.poll()?;
        Ok(Function(self.handle(self.function_raw(callee, local))))
    }

    /// Creates a function of the host that is called through a wrapper. `outer` receives the native
    /// function of `callee` and returns the wrapper and its second bound value.
    pub(crate) fn held_function<A, R, C: Callee<A, R>, B: 'static>(
        self,
        callee: C,
        outer: impl FnOnce(NativeFn) -> (NativeFn, B),
    ) -> Result<Function> {
        self.poll()?;
        let (native, bound) = outer(enter::<A, R, C>);
        let callee = self.udata(HostCell::boxed(callee, Some(&self.lua.control)));
        let bound = self.udata(HostCell::boxed(bound, Some(&self.lua.control)));
        let cx = self.cx();
        // SAFETY: the values were just created.
        let values = unsafe { [Val::of(cx, callee.0), Val::of(cx, bound.0)] };
        let f = cx.func(native, &values);
        f.hide_bound();
        Ok(Function(self.handle(Raw(f.val().raw()))))
    }

    /// Like [`Stack::function`], without a safepoint.
    pub(crate) fn function_raw<A, R, C: Callee<A, R>>(self, callee: C, local: bool) -> Raw {
        let local: Option<&XRc<Control>> = local.then_some(&self.lua.control);
        let cell = self.udata(HostCell::boxed(callee, local));
        let cx = self.cx();
        // SAFETY: the value was just created.
        let cell = unsafe { Val::of(cx, cell.0) };
        let f = cx.func(enter::<A, R, C>, &[cell]);
        f.hide_bound();
        Raw(f.val().raw())
    }
}
