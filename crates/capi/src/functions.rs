//! C functions as values.

use hashbrown::HashMap;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::native::{Cx, NativeFn, Val};
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::value::Value;

/// The C functions without upvalues that a state knows, by address: each is one value, so that it
/// is equal to itself wherever it is pushed. There are as many as modules have.
pub(crate) struct Functions {
    known: HashMap<usize, *mut NativeClosure, foldhash::fast::FixedState>,
    /// The slot of a root: the list of these values, which keeps them alive.
    root: u32,
}

impl Functions {
    /// None are known.
    ///
    /// # Safety
    /// `st` is live, and outlives the result.
    pub(crate) unsafe fn new(st: *mut State) -> Functions {
        let list = Table::new(st, 0, 0);
        let root = (*st).add_host_root(Value::table(list));
        Functions { known: HashMap::default(), root }
    }

    /// Makes a C function without upvalues, or returns it if it was made before; `run` runs it.
    ///
    /// # Safety
    /// `code` is a C function for this state.
    pub(crate) unsafe fn light(&mut self, cx: &Cx, run: NativeFn, code: *const ()) -> Value {
        if let Some(f) = self.known.get(&code.addr()) {
            return Value::native(*f);
        }
        let f = cx.func_foreign(run, &[], code).val().raw();
        let st = cx.state();
        let list = (*st).host_roots.get(self.root).as_table();
        Table::set_int(st, list, Table::length(list) + 1, f);
        self.known.insert(code.addr(), f.as_native());
        f
    }
}

/// Makes a C function with upvalues.
///
/// # Safety
/// As for [`Functions::light`]. There are no more than 255 upvalues.
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
