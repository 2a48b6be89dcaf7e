//! Calls of C code, and how errors unwind it.

mod x86_64;

pub(crate) use x86_64::{
    THUNKS, VaList, begin_line, stub, stub_double, stub_variadic, throw, thunk, thunk_number,
    thunks,
};

/// The place where an error in C code continues: the call of that code. The assembly relies on the
/// layout of the first two fields.
#[repr(C)]
pub(crate) struct Jump {
    stack: *mut u8,
    /// The reason why the code is unwound: one of the constants of [`Left`]. The initial value says
    /// that it returns.
    why: usize,
    /// The jump of the enclosing call.
    outer: *mut Jump,
}

impl Jump {
    /// Sets the reason why the code is about to be unwound.
    pub(crate) fn leave_for(&mut self, why: usize) {
        self.why = why;
    }
}

/// How a call of C code has ended.
#[repr(C)]
pub(crate) struct Left {
    /// The value that the code returned.
    pub(crate) value: usize,
    /// Whether the code returned, or why it was unwound.
    pub(crate) why: usize,
}

impl Left {
    /// The code has returned.
    pub(crate) const RETURNED: usize = 0;
    /// The code has raised an error, whose value is in the state.
    pub(crate) const ERROR: usize = 1;
    /// The coroutine yields.
    pub(crate) const YIELD: usize = 2;
}

/// Calls the C function at `f` with these words as arguments.
///
/// # Safety
/// `f` takes up to four words. `innermost` is the variable that holds the innermost jump of the
/// function's state.
#[inline(always)]
pub(crate) unsafe fn call(innermost: *mut *mut Jump, f: *const (), args: [usize; 4]) -> Left {
    let mut jump = Jump { stack: std::ptr::null_mut(), why: Left::RETURNED, outer: *innermost };
    *innermost = &raw mut jump;
    let [a, b, c, d] = args;
    let left = x86_64::try_call(&raw mut jump, f, a, b, c, d);
    *innermost = jump.outer;
    left
}
