//! How the body of a stub ends: with a result for C, an error or a yield.

use std::any::Any;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use perilune_runtime::native::Raised;

use crate::arch::{Jump, Left};
use crate::entry::{Entry, is_running};
use crate::state::LuaState;

/// The value that the body of a stub returns to it.
#[repr(C)]
pub(crate) struct Outcome {
    word: u64,
    jump: *mut Jump,
}

impl Outcome {
    /// Creates the outcome that returns `r` to C.
    #[inline(always)]
    pub(crate) fn returned<R: Word>(r: R) -> Outcome {
        Outcome { word: r.word(), jump: std::ptr::null_mut() }
    }
}

/// The reason why C code is unwound.
pub(crate) enum Leave {
    /// An error.
    Error,
    /// The coroutine yields.
    Yield,
}

impl From<Raised> for Leave {
    #[inline(always)]
    fn from(_: Raised) -> Leave {
        Leave::Error
    }
}

/// The result of the body of a stub.
pub(crate) type Fallible<R> = Result<R, Leave>;

/// A type that fits into the result register.
pub(crate) trait Word {
    /// Returns the contents of the register.
    fn word(self) -> u64;
}

impl Word for () {
    #[inline(always)]
    fn word(self) -> u64 {
        0
    }
}
impl Word for c_int {
    #[inline(always)]
    fn word(self) -> u64 {
        self as u64
    }
}
impl Word for i64 {
    #[inline(always)]
    fn word(self) -> u64 {
        self as u64
    }
}
impl Word for f64 {
    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }
}
impl<T> Word for *const T {
    #[inline(always)]
    fn word(self) -> u64 {
        self.expose_provenance() as u64
    }
}
impl<T> Word for *mut T {
    #[inline(always)]
    fn word(self) -> u64 {
        self.expose_provenance() as u64
    }
}

/// Runs the body of a stub. A panic becomes an error.
///
/// # Safety
/// See [`Entry::new`].
#[inline(always)]
pub(crate) unsafe fn guarded<R: Word>(
    l: *mut LuaState,
    body: impl FnOnce(&mut Entry) -> Fallible<R>,
) -> Outcome {
    guarded_popping(l, 0, body)
}

/// Like [`guarded`], for a body that pops `popped` values.
///
/// # Safety
/// See [`Entry::new`].
#[inline(always)]
pub(crate) unsafe fn guarded_popping<R: Word>(
    l: *mut LuaState,
    popped: usize,
    body: impl FnOnce(&mut Entry) -> Fallible<R>,
) -> Outcome {
    if is_running(l) {
        return guarded_running(l, body);
    }
    // SAFETY: the caller upholds the same contract.
    caught(l, move || unsafe { Entry::switched_fallible(l, popped, body) })
}

/// Like [`guarded`], for the running coroutine.
///
/// # Safety
/// See [`Entry::running`].
#[inline(always)]
pub(crate) unsafe fn guarded_running<R: Word>(
    l: *mut LuaState,
    body: impl FnOnce(&mut Entry) -> Fallible<R>,
) -> Outcome {
    // SAFETY: the caller upholds the same contract.
    caught(l, move || unsafe { Entry::running(l, body) })
}

#[inline(always)]
unsafe fn caught<R: Word>(l: *mut LuaState, run: impl FnOnce() -> Fallible<R>) -> Outcome {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(r)) => Outcome::returned(r),
        Ok(Err(why)) => leave(l, why),
        Err(panic) => panicked(l, panic),
    }
}

#[cold]
#[inline(never)]
unsafe fn leave(l: *mut LuaState, why: Leave) -> Outcome {
    let jump = (*(*l).global).jump;
    if jump.is_null() {
        crate::errors::unprotected(l);
    }
    (*jump).leave_for(match why {
        Leave::Error => Left::ERROR,
        Leave::Yield => Left::YIELD,
    });
    Outcome { word: 0, jump }
}

#[cold]
#[inline(never)]
unsafe fn panicked(l: *mut LuaState, panic: Box<dyn Any + Send>) -> Outcome {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => *text,
        (_, Some(text)) => text,
        _ => "panic",
    };
    let message = (*LuaState::state(l)).intern(text.as_bytes());
    (*LuaState::state(l)).raise(perilune_runtime::value::Value::string(message));
    leave(l, Leave::Error)
}

/// Defines functions of the API that can raise an error: `|e| body` with `e` an [`Entry`].
macro_rules! raising {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($l:ident $(, $arg:ident: $type:ty)* $(,)?)
            $(-> $ret:ty)? |$e:ident| $body:block
    )*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(
            $l: *mut $crate::state::LuaState $(, $arg: $type)*
        ) $(-> $ret)? {
            unsafe extern "C" fn body(
                $l: *mut $crate::state::LuaState $(, $arg: $type)*
            ) -> $crate::outcome::Outcome {
                // Arguments are moved and passed on one by one, since otherwise they would be in
                // memory.
                #[cold]
                #[inline(never)]
                unsafe extern "C" fn switched(
                    $l: *mut $crate::state::LuaState $(, $arg: $type)*
                ) -> $crate::outcome::Outcome {
                    $crate::outcome::guarded(
                        $l,
                        move |$e| -> $crate::outcome::Fallible<raising!(@ret $($ret)?)> { $body },
                    )
                }
                if !$crate::entry::is_running($l) {
                    $crate::arch::begin_line!();
                    return switched($l $(, $arg)*);
                }
                $crate::outcome::guarded_running(
                    $l,
                    #[inline(always)]
                    move |$e| -> $crate::outcome::Fallible<raising!(@ret $($ret)?)> { $body },
                )
            }
            $crate::arch::stub!(body)
        }
    )*};
    (@ret) => { () };
    (@ret $ret:ty) => { $ret };
}

pub(crate) use raising;

/// Defines functions of the API that raise no error: `|e| body` with `e` an [`Entry`].
macro_rules! infallible {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($l:ident $(, $arg:ident: $type:ty)* $(,)?)
            $(-> $ret:ty)? |$e:ident| $body:block
    )*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            $l: *mut $crate::state::LuaState $(, $arg: $type)*
        ) $(-> $ret)? {
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn switched(
                $l: *mut $crate::state::LuaState $(, $arg: $type)*
            ) $(-> $ret)? {
                $crate::entry::Entry::switched($l, move |$e| $(-> $ret)? { $body })
            }
            if !$crate::entry::is_running($l) {
                $crate::arch::begin_line!();
                return switched($l $(, $arg)*);
            }
            $crate::entry::Entry::running(
                $l,
                #[inline(always)]
                move |$e| $(-> $ret)? { $body },
            )
        }
    )*};
}

pub(crate) use infallible;
