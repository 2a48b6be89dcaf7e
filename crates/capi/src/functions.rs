//! C functions as values.

use hashbrown::HashMap;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::native::{Cx, NativeFn, Val};
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::value::Value;

use crate::arch::{THUNKS, thunk, thunk_number};

/// The C functions without upvalues that a state knows, by address. Each is a single value, so that
/// it is equal to itself wherever it is pushed. Their number is bounded by the functions that
/// modules have.
pub(crate) struct Functions {
    known: HashMap<usize, *mut NativeClosure, foldhash::fast::FixedState>,
    /// The native functions of Rust that C code has requested as C functions, by number.
    natives: Vec<*mut NativeClosure>,
    /// The numbers of the functions in `natives`.
    numbers: HashMap<*mut NativeClosure, usize, foldhash::fast::FixedState>,
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
        Functions {
            known: HashMap::default(),
            natives: Vec::new(),
            numbers: HashMap::default(),
            root,
        }
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
        if let Some(f) = thunk_number(code).and_then(|i| self.natives.get(i)) {
            return Value::native(*f);
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
    /// then on; null if all [`THUNKS`] are in use.
    ///
    /// # Safety
    /// `f` is a live native function of `st`.
    pub(crate) unsafe fn thunk_of(&mut self, st: *mut State, f: *mut NativeClosure) -> *const () {
        let number = match self.numbers.get(&f) {
            Some(number) => *number,
            None if self.natives.len() == THUNKS => return std::ptr::null(),
            None => {
                self.keep(st, Value::native(f));
                self.numbers.insert(f, self.natives.len());
                self.natives.push(f);
                self.natives.len() - 1
            }
        };
        thunk(number)
    }

    /// Returns the native function with this number.
    pub(crate) fn native(&self, number: usize) -> Option<Value> {
        self.natives.get(number).map(|f| Value::native(*f))
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
