//! Calls of C code, and how errors leave it.

mod x86_64;

pub(crate) use x86_64::{
    THUNKS, VaList, begin_line, stub, stub_double, stub_variadic, throw, thunk, thunk_number,
    thunks,
};

/// Where an error in C code continues: in the call of it. The assembly knows the first two fields.
#[repr(C)]
pub(crate) struct Jump {
    stack: *mut u8,
    /// Why the code is left: one of the constants of [`Left`]. It returns if nothing else is said.
    why: usize,
    /// The jump of the call around this one.
    outer: *mut Jump,
}

impl Jump {
    /// Says why the code is about to be left.
    pub(crate) fn leave_for(&mut self, why: usize) {
        self.why = why;
    }
}

/// How C code was left.
#[repr(C)]
pub(crate) struct Left {
    /// What it returned.
    pub(crate) value: usize,
    /// Whether it returned, or else why it was left.
    pub(crate) why: usize,
}

impl Left {
    /// It has returned.
    pub(crate) const RETURNED: usize = 0;
    /// It has raised an error, whose value is in the state.
    pub(crate) const ERROR: usize = 1;
    /// Its coroutine yields.
    pub(crate) const YIELD: usize = 2;
    /// Its continuation is to be called, for an error that it has caught.
    pub(crate) const CONTINUE: usize = 3;
}

/// Calls the C function at `f` with these words.
///
/// # Safety
/// `f` takes up to four words. `innermost` is where the state of the function has its innermost
/// jump.
#[inline(always)]
pub(crate) unsafe fn call(innermost: *mut *mut Jump, f: *const (), args: [usize; 4]) -> Left {
    let mut jump = Jump { stack: std::ptr::null_mut(), why: Left::RETURNED, outer: *innermost };
    *innermost = &raw mut jump;
    let [a, b, c, d] = args;
    let left = x86_64::try_call(&raw mut jump, f, a, b, c, d);
    *innermost = jump.outer;
    left
}
