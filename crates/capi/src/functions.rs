//! C functions as values.

use hashbrown::HashMap;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::native::{Cx, NativeFn, Val};
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::value::Value;

use crate::arch::{thunk, thunk_number};
use crate::targets::{self, Target};

/// The C functions without upvalues that a state knows, by address. Each is a single value, so that
/// it is equal to itself wherever it is pushed. Their number is bounded by the functions that
/// modules have.
pub(crate) struct Functions {
    known: HashMap<usize, *mut NativeClosure, foldhash::fast::FixedState>,
    /// The native functions of Rust that thunks call in this state, by the number of the thunk.
    natives: HashMap<usize, *mut NativeClosure, foldhash::fast::FixedState>,
    /// The root slot of the list that keeps these values alive.
    root: u32,
}

impl Functions {
    /// Creates an empty set of functions.
    ///
    /// # Safety
    /// `st` is live, and outlives the result.
    pub(crate) unsafe fn new(st: *mut State) -> Functions {
        let list = Table::new(st, 0, 0);
        let root = (*st).add_host_root(Value::table(list));
        Functions { known: HashMap::default(), natives: HashMap::default(), root }
    }

    /// Returns the value of a C function without upvalues, and creates it the first time; `run`
    /// runs it.
    ///
    /// # Safety
    /// `code` is a C function for this state.
    pub(crate) unsafe fn light(&mut self, cx: &Cx, run: NativeFn, code: *const ()) -> Value {
        if let Some(f) = self.known.get(&code.addr()) {
            return Value::native(*f);
        }
        if let Some(f) = thunk_number(code).and_then(|number| self.native(cx, number)) {
            return f;
        }
        let f = cx.func_foreign(run, &[], code).val().raw();
        self.keep(cx.state(), f);
        self.known.insert(code.addr(), f.as_native());
        f
    }

    /// Keeps a function alive.
    unsafe fn keep(&self, st: *mut State, f: Value) {
        let list = (*st).host_roots.get(self.root).as_table();
        Table::set_int(st, list, Table::length(list) + 1, f);
    }

    /// Returns a C function that calls a native function of Rust, and keeps the latter alive from
    /// then on; null if all thunks are in use.
    ///
    /// # Safety
    /// `f` is a live native function of `st`.
    pub(crate) unsafe fn thunk_of(&mut self, st: *mut State, f: *mut NativeClosure) -> *const () {
        let Some(number) = targets::number_of(Target::of(f)) else { return std::ptr::null() };
        self.add(st, number, f);
        thunk(number)
    }

    /// Makes a thunk call a native function, unless it calls one already.
    unsafe fn add(&mut self, st: *mut State, number: usize, f: *mut NativeClosure) {
        if !self.natives.contains_key(&number) {
            self.natives.insert(number, f);
            self.keep(st, Value::native(f));
        }
    }

    /// Returns the native function that the thunk with this number calls. If C code has the thunk
    /// from another state, that is this state's function with the same code; `None` if there is
    /// none.
    ///
    /// # Safety
    /// N1.
    pub(crate) unsafe fn native(&mut self, cx: &Cx, number: usize) -> Option<Value> {
        if let Some(f) = self.natives.get(&number) {
            return Some(Value::native(*f));
        }
        let f = targets::target(number)?.in_state(cx)?;
        self.add(cx.state(), number, f);
        Some(Value::native(f))
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        targets::release(self.natives.keys().copied());
    }
}

/// Creates a C function with upvalues.
///
/// # Safety
/// See [`Functions::light`]. There are no more than 255 upvalues.
pub(crate) unsafe fn closure(
    cx: &Cx,
    run: NativeFn,
    code: *const (),
    upvalues: &[Val<'_>],
) -> Value {
    cx.func_foreign(run, upvalues, code).val().raw()
}

/// Returns the code of a C function; null for other native functions.
///
/// # Safety
/// `f` is a live native closure.
#[inline(always)]
pub(crate) unsafe fn code_of(f: *const NativeClosure) -> *const () {
    (*f).foreign
}
