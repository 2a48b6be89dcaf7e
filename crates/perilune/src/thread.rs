//! Coroutines ([`Thread`]), and events of theirs.

use std::ffi::c_void;

use perilune_runtime::native::{Cx, NativeResult, Resumed, Val};
use perilune_runtime::thread::Status;

use crate::control::Handle;
use crate::stack::{Raw, Stack};
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::{Error, Function, Lua, Result, WeakLua};

#[cfg(feature = "async")]
pub use crate::futures::AsyncThread;
pub use crate::thread_events::{ThreadEvent, ThreadTriggers};

/// A handle to a coroutine.
///
/// ```
/// let lua = perilune::Lua::new();
/// let f = lua.load("function(a) local b = coroutine.yield(a + 1); return b * 2 end").eval()?;
/// let co = lua.create_thread(f)?;
/// assert_eq!(co.resume::<i64>(1)?, 2);
/// assert_eq!(co.resume::<i64>(10)?, 20);
/// assert!(co.is_finished() && co.resume::<()>(()).is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Thread(pub(crate) Handle);

/// What a coroutine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    /// It has not begun, or has yielded.
    Resumable,
    /// It runs.
    Running,
    /// It waits for a coroutine that it has resumed.
    Normal,
    /// It has ended.
    Finished,
    /// It has ended with an error.
    Error,
}

impl Thread {
    /// Resumes it with arguments, or values for `yield` to give; results are what it yields or returns.
    ///
    /// # Errors
    /// [`Error::CoroutineUnresumable`], and what it raises.
    ///
    /// # Panics
    /// As [`Function::call`].
    pub fn resume<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        self.about_to_resume()?;
        // SAFETY: the values exist.
        self.resume_with(args, |s, at, n| unsafe { R::from_stack_multi(at, n, s) })
    }

    /// What comes before each [`Thread::resume_with`].
    #[inline]
    pub(crate) fn about_to_resume(&self) -> Result<()> {
        let _entry = self.0.enter();
        self.check_not_told()?;
        if self.status() != ThreadStatus::Resumable {
            return Err(Error::CoroutineUnresumable);
        }
        self.tell(|t| t.on_resume, ThreadEvent::Resume)
    }

    /// Resumes it; `f` converts what it yields or returns: the `n` values of the stack from number `at` on.
    #[inline]
    pub(crate) fn resume_with<R>(
        &self,
        args: impl IntoLuaMulti,
        f: impl FnOnce(Stack<'_>, usize, usize) -> Result<R>,
    ) -> Result<R> {
        let entry = self.0.enter();
        // a function that was told may have resumed it
        if self.status() != ThreadStatus::Resumable {
            return Err(Error::CoroutineUnresumable);
        }
        let s = entry.stack();
        s.reserve(8)?;
        let at = s.top();
        let cx = s.cx();
        let step = cx.func(resume, &[]).val();
        cx.push_callee(step);
        s.push(Raw(self.0.word()));
        // SAFETY: P1: callee, header and arguments are pushed; results lie where the callee was.
        unsafe {
            let n = match args.push_into_stack_multi(s) {
                Ok(n) => n,
                Err(e) => {
                    s.cut(at);
                    return Err(e);
                }
            };
            match ((*s.st).vm.traced)(s.st, (*s.st).base.add(at), n + 1) {
                Ok(n) => {
                    let yielded = |t: ThreadTriggers| t.on_yield && self.is_resumable();
                    let r = self.tell(yielded, ThreadEvent::Yield).and_then(|()| f(s, at, n));
                    s.cut(at);
                    r
                }
                Err(_) => Err(s.caught(at)),
            }
        }
    }

    /// Its status.
    ///
    /// # Panics
    /// When the state is gone.
    pub fn status(&self) -> ThreadStatus {
        let _guard = self.0.hold();
        let th = self.0.word().as_thread();
        // SAFETY: P1: rooted by the handle.
        unsafe {
            match (*th).status {
                Status::Suspended => ThreadStatus::Resumable,
                Status::Running => ThreadStatus::Running,
                Status::Normal => ThreadStatus::Normal,
                Status::Dead if (*th).failed => ThreadStatus::Error,
                Status::Dead => ThreadStatus::Finished,
            }
        }
    }

    /// Can it be resumed?
    pub fn is_resumable(&self) -> bool {
        self.status() == ThreadStatus::Resumable
    }

    /// Does it run?
    pub fn is_running(&self) -> bool {
        self.status() == ThreadStatus::Running
    }

    /// Does it wait for one that it has resumed?
    pub fn is_normal(&self) -> bool {
        self.status() == ThreadStatus::Normal
    }

    /// Has it ended?
    pub fn is_finished(&self) -> bool {
        self.status() == ThreadStatus::Finished
    }

    /// Has it ended with an error?
    pub fn is_error(&self) -> bool {
        self.status() == ThreadStatus::Error
    }

    /// Ends it, closing its pending variables, and lets it begin anew with another function.
    ///
    /// # Errors
    /// For one that runs or waits for another; what closing variables raises.
    pub fn reset(&self, func: Function) -> Result<()> {
        self.check_not_told()?;
        match self.status() {
            ThreadStatus::Running => return Err(Error::runtime("cannot reset a running thread")),
            ThreadStatus::Normal => return Err(Error::runtime("cannot reset a normal thread")),
            _ => {}
        }
        self.close()?;
        let entry = self.0.enter();
        let s = entry.stack();
        let f = s.word(&func.0);
        // SAFETY: P1: the coroutine is closed, so nothing of it runs; the function is rooted by its handle.
        unsafe {
            perilune_runtime::thread::Thread::restart(&mut *s.st, self.0.word().as_thread(), f.0)
        };
        Ok(())
    }

    /// Ends it, closing its pending variables.
    ///
    /// # Errors
    /// For one that runs or waits for another; what closing variables raises, or it had ended with.
    pub fn close(&self) -> Result<()> {
        let status = self.status();
        if matches!(status, ThreadStatus::Running | ThreadStatus::Normal) {
            return Err(Error::runtime("cannot close a running thread"));
        }
        let entry = self.0.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let at = s.top();
        let cx = s.cx();
        let f = cx.func(close, &[]).val();
        cx.push_callee(f);
        s.push(Raw(self.0.word()));
        // SAFETY: P1.
        match unsafe { ((*s.st).vm.traced)(s.st, (*s.st).base.add(at), 1) } {
            Ok(_) => {
                s.cut(at);
                Ok(())
            }
            // the error that it had ended with was told before
            Err(_) if status == ThreadStatus::Error => {
                let _ = s.caught(at);
                Ok(())
            }
            Err(_) => Err(s.caught(at)),
        }
    }

    /// A weak reference to its state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// The address that identifies it.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}

/// Resumes its first argument with the others; passes errors on.
fn resume(cx: &mut Cx) -> NativeResult {
    let n = cx.top() - 1;
    match cx.resume(0, n) {
        Resumed::Values(n) => cx.ret(n),
        Resumed::Failed => {
            let trace = cx.traceback(Some(cx.get(0)), None, 0);
            let e = cx.get(cx.top() - 1);
            let raised = cx.raise(e);
            cx.note_traceback(trace);
            Err(raised)
        }
    }
}

/// Closes its argument; passes errors on.
fn close(cx: &mut Cx) -> NativeResult {
    if cx.close_thread(0) {
        return cx.ret(0);
    }
    let e = cx.get(cx.top() - 1);
    Err(cx.raise(e))
}

impl Lua {
    /// A coroutine that will call `func`.
    ///
    /// # Errors
    /// When the memory limit is reached; what a function that is told of new coroutines fails with.
    pub fn create_thread(&self, func: Function) -> Result<Thread> {
        let entry = self.enter();
        let s = entry.stack();
        s.poll()?;
        let f = s.word(&func.0);
        let cx = &*s.cx();
        // SAFETY: rooted by its handle.
        let th = cx.new_thread(unsafe { Val::of(cx, f.0) });
        let th = Thread(s.handle(Raw(th.raw())));
        th.tell(|t| t.on_create, ThreadEvent::Create)?;
        Ok(th)
    }

    /// The running coroutine, which may be the main one.
    pub fn current_thread(&self) -> Thread {
        let entry = self.enter();
        let s = entry.stack();
        let th = s.cx().running().0.raw();
        Thread(s.handle(Raw(th)))
    }
}
