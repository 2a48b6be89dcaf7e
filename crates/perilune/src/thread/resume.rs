//! Resuming and ending coroutines.

use perilune_runtime::native::{Cx, NativeResult, Raised, Resumed, Val};
use perilune_runtime::thread::{Status, Thread as ThreadObject};

use crate::stack::{Raw, Stack};
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::triggers::{ThreadEventKind, ThreadTriggers};
use crate::{Error, Function, Result, Thread, ThreadStatus};

impl Thread {
    /// Resumes the coroutine with the arguments of its function or the results of its `yield`.
    /// Returns the values that it yields or returns.
    ///
    /// # Errors
    /// Returns [`Error::CoroutineUnresumable`] if the coroutine cannot be resumed, or the error
    /// that it raises.
    ///
    /// # Panics
    /// See [`Function::call`].
    pub fn resume<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        self.about_to_resume()?;
        // SAFETY: the values exist.
        self.resume_with(args, |s, at, n| unsafe { R::from_stack_multi(at, n, s) })
    }

    /// Performs the checks before each [`Thread::resume_with`].
    #[inline]
    pub(crate) fn about_to_resume(&self) -> Result<()> {
        let _entry = self.0.enter();
        self.check_not_told()?;
        if self.status() != ThreadStatus::Resumable {
            return Err(Error::CoroutineUnresumable);
        }
        self.tell(|t| t.on_resume, ThreadEventKind::Resume)
    }

    /// Resumes the coroutine. `f` converts the values that the coroutine yields or returns: the `n`
    /// values of the stack that start at number `at`.
    #[inline]
    pub(crate) fn resume_with<R>(
        &self,
        args: impl IntoLuaMulti,
        f: impl FnOnce(Stack<'_>, usize, usize) -> Result<R>,
    ) -> Result<R> {
        let entry = self.0.enter();
        // the event callback may have resumed the coroutine
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
                    let r = self.tell(yielded, ThreadEventKind::Yield).and_then(|()| f(s, at, n));
                    s.cut(at);
                    r
                }
                Err(_) => Err(s.caught(at)),
            }
        }
    }

    /// Ends the coroutine, closes its to-be-closed variables, and restarts it with another
    /// function.
    ///
    /// # Errors
    /// Returns an error for a coroutine that is running or waits for another, or the error of a
    /// to-be-closed variable.
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
        // SAFETY: P1: the coroutine is closed, so nothing of it runs; the function is rooted by its
        // handle.
        unsafe { ThreadObject::restart(&mut *s.st, self.0.word().as_thread(), f.0) };
        s.poll()
    }

    /// Ends the coroutine and closes its to-be-closed variables.
    ///
    /// # Errors
    /// Returns an error for a coroutine that is running or waits for another, or the error of a
    /// to-be-closed variable. The error that ended the coroutine was returned before, and is not
    /// returned again.
    pub fn close(&self) -> Result<()> {
        if matches!(self.status(), ThreadStatus::Running | ThreadStatus::Normal) {
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
            Err(_) => Err(s.caught(at)),
        }
    }
}

/// Implements the resumption: resumes the first argument with the others, and propagates errors.
fn resume(cx: &mut Cx) -> NativeResult {
    // the coroutine may yield again before its next safepoint
    cx.interrupted()?;
    status(cx)?;
    let n = cx.top() - 1;
    match cx.resume(0, n) {
        Resumed::Values(n) => cx.ret(n),
        Resumed::Failed => {
            status(cx)?;
            let trace = cx.traceback(Some(cx.get(0)), None, 0);
            let e = cx.get(cx.top() - 1);
            let raised = cx.raise(e);
            cx.note_traceback(trace);
            Err(raised)
        }
    }
}

/// Returns the status of the coroutine that is value 0. C code may have replaced the value.
fn status(cx: &Cx) -> std::result::Result<Status, Raised> {
    let co = cx.get(0);
    if co.is_thread() { Ok(cx.thread_status(co)) } else { Err(cx.error("a coroutine is expected")) }
}

/// Implements the closing of a coroutine: closes the argument, and propagates errors, except for
/// the one that ended the coroutine.
fn close(cx: &mut Cx) -> NativeResult {
    if matches!(status(cx)?, Status::Running | Status::Normal) {
        return Err(cx.error("cannot close a running coroutine"));
    }
    let reported = cx.thread_error(cx.get(0));
    let has_failed = reported.is_some();
    cx.push(reported.unwrap_or(Val::NIL));
    let reported = cx.top() - 1;
    if cx.close_thread(0) {
        return cx.ret(0);
    }
    let e = cx.get(cx.top() - 1);
    if has_failed && e.raw_equals(cx.get(reported)) {
        return cx.ret(0);
    }
    Err(cx.raise(e))
}
