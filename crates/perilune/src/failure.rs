//! Errors and panics of callbacks as Lua values.

use std::any::Any;
use std::sync::Arc;

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::native::{Cx, ErrorKind, NativeResult, Raised, Val};

use crate::callback::inside;
use crate::cell::HostCell;
use crate::stack::{Raw, Stack, type_name};
use crate::{Error, Result};

/// The reason why a callback returned no results.
pub(crate) enum Failure {
    /// An error.
    Error(Error),
    /// A panic, until a call of the host has taken it.
    Panic(Option<Box<dyn Any + Send>>),
}

impl Failure {
    /// Returns the failure inside an error value.
    pub(crate) fn of<'a>(s: Stack<'a>, v: Raw) -> Option<&'a mut Failure> {
        let cell = HostCell::<Failure>::of(s, v)?;
        // SAFETY: P1: the cell is alive; failures are never taken, and no reference to one is kept
        // while code of Lua or of the host runs.
        Some(unsafe { &mut *HostCell::value(cell) })
    }

    /// Creates an error value of Lua from the failure.
    pub(crate) fn into_raw(self, s: Stack<'_>) -> Result<Raw> {
        s.poll()?;
        Ok(self.into_raw_now(s))
    }

    /// Like [`Failure::into_raw`], without a safepoint.
    pub(crate) fn into_raw_now(self, s: Stack<'_>) -> Raw {
        let u = s.udata(HostCell::boxed(self, None));
        let meta = metatable(s);
        s.set_udata_meta(u, meta);
        u
    }

    /// Raises an error of a callback with a traceback. An error of a hook gets no traceback, since
    /// no program called the hook.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(self, s: Stack<'_>) -> Raised {
        let failure = match self {
            // SAFETY: P1: the frame of the callback is on top.
            error if unsafe { Frame((*s.st).base).link().flags() } & flags::HOOK != 0 => error,
            Failure::Error(e) => {
                let traceback = s.cx().traceback(None, None, 0);
                let traceback = String::from_utf8_lossy(&traceback).into_owned();
                Failure::Error(Error::CallbackError { traceback, cause: Arc::new(e) })
            }
            panic @ Failure::Panic(_) => panic,
        };
        let v = failure.into_raw_now(s);
        let cx = s.cx();
        // SAFETY: the value was just created.
        cx.raise(unsafe { Val::of(cx, v.0) })
    }
}

/// Returns the text of the failure that a value holds. The `Display` of an error may run any code,
/// which may free the value; so this keeps the error itself alive.
fn text(s: Stack<'_>, v: Raw) -> Option<String> {
    let e = match s.failure(v)? {
        Failure::Error(e) => e.clone(),
        Failure::Panic(None) => Error::PreviouslyResumedPanic,
        Failure::Panic(Some(p)) => {
            let said = p.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let said = said.or_else(|| p.downcast_ref::<String>().cloned());
            return Some(said.unwrap_or_else(|| "<panic>".to_owned()));
        }
    };
    Some(e.to_string())
}

// SAFETY of all blocks of this impl: P1 (an operation is running, so the state is alive and on this
// thread) and P4.
impl<'a> Stack<'a> {
    /// Returns the name of a value's type, like [`Value::type_name`](crate::Value::type_name).
    pub(crate) fn type_name(self, v: Raw) -> &'static str {
        if self.failure(v).is_some() { "error" } else { type_name(v.0) }
    }

    /// Returns the failure that a value holds.
    pub(crate) fn failure(self, v: Raw) -> Option<&'a mut Failure> {
        Failure::of(self, v)
    }

    /// Catches the error being raised. `kept` is the number of values that remain on the stack.
    ///
    /// # Panics
    /// Resumes the panic of a callback.
    #[cold]
    #[inline(never)]
    pub(crate) fn caught(self, kept: usize) -> Error {
        self.cx().recover(kept);
        // SAFETY: as above; the error value was just pushed.
        let e = unsafe { self.error_of(kept) };
        self.cut(kept);
        match e {
            Ok(e) => e,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs `f`, which may call metamethods, and catches its error, whose traceback then begins at
    /// the function that failed. `kept` is the number of values that remain on the stack.
    ///
    /// # Panics
    /// Resumes the panic of a callback.
    pub(crate) fn traced<R>(
        self,
        kept: usize,
        f: impl FnOnce(&mut Cx) -> std::result::Result<R, Raised>,
    ) -> Result<R> {
        let tracing = Tracing::new(self);
        let r = f(self.cx());
        drop(tracing);
        r.map_err(|_| self.caught(kept))
    }

    /// Converts value number `at`, the topmost one, to the error that it represents.
    ///
    /// # Safety
    /// The value exists.
    unsafe fn error_of(self, at: usize) -> std::result::Result<Error, Box<dyn Any + Send>> {
        let traceback = (&mut (*self.st).traceback).take();
        let kind = (*self.st).error_kind;
        let v = self.get(at);
        match self.failure(v) {
            Some(Failure::Error(e)) => return Ok(e.clone()),
            Some(Failure::Panic(p)) => {
                return match p.take() {
                    Some(p) => Err(p),
                    None => Ok(Error::PreviouslyResumedPanic),
                };
            }
            None => {}
        }
        if kind == ErrorKind::Memory {
            return Ok(Error::not_enough_memory());
        }
        let cx = self.cx();
        let mut text = match cx.push_tostring(at) {
            Ok(()) => cx.get(cx.top() - 1).as_str().map_or(Vec::new(), |s| s.bytes().to_vec()),
            Err(_) => {
                cx.recover(at + 1);
                let why = cx.get(at + 1).as_str().map_or(&[][..], |s| s.bytes());
                [b"error object that cannot be shown: ", why].concat()
            }
        };
        let traceback = traceback.unwrap_or_else(|| cx.traceback(None, None, 0));
        text.push(b'\n');
        text.extend_from_slice(&traceback);
        Ok(Error::RuntimeError(String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Requests a traceback of errors that propagate to the frame on top, until it is dropped.
struct Tracing<'a> {
    s: Stack<'a>,
    /// Whether the caller of the frame has requested one.
    before: bool,
}

impl<'a> Tracing<'a> {
    fn new(s: Stack<'a>) -> Tracing<'a> {
        // SAFETY: P1: the frame in which the operation began is on top.
        let before = unsafe {
            let frame = Frame((*s.st).base);
            let before = frame.link().flags() & flags::TRACED != 0;
            frame.add_flags(flags::TRACED);
            before
        };
        Tracing { s, before }
    }
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        if !self.before {
            // SAFETY: P1: the same frame is on top again, as calls that fail restore it.
            unsafe { Frame((*self.s.st).base).clear_flags(flags::TRACED) };
        }
    }
}

/// Returns the metatable of errors.
fn metatable(s: Stack<'_>) -> Raw {
    let control = &s.lua.control;
    if let Some(slot) = control.error_meta.get() {
        // SAFETY: P4.
        return Raw(unsafe { (*s.st).host_roots.get(slot) });
    }
    let cx = &*s.cx();
    let meta = cx.table(0, 3);
    meta.set_name(cx, "__tostring", cx.func(tostring, &[]).val());
    meta.set_name(cx, "__name", cx.str(b"error").val());
    meta.set_name(cx, "__metatable", Val::bool(false));
    let raw = meta.val().raw();
    // SAFETY: P4.
    control.error_meta.set(Some(unsafe { (*s.st).add_host_root(raw) }));
    Raw(raw)
}

/// Implements `__tostring` of errors.
fn tostring(cx: &mut Cx) -> NativeResult {
    let Some(text) = inside(cx, |s| Ok(text(s, Raw(s.cx().get(0).raw()))))? else {
        return Err(cx.error("an error is expected"));
    };
    let v = cx.str(text.as_bytes()).val();
    cx.ret1(v)
}
