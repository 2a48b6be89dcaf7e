//! Creates closures.

use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::Value;

/// Executes CLOSURE: creates a closure of inner function `n`, over variables of the frame at
/// `base`. If there is no memory for the function, returns an arbitrary closure, and the next
/// safepoint raises the error.
///
/// # Safety
/// I1, I2; `inst` is the instance of that frame's function.
#[inline(never)]
pub(crate) unsafe fn make_closure(
    st: *mut State,
    inst: *mut Instance,
    n: usize,
    base: *mut Value,
) -> Value {
    let mut s = StateRef::new(st);
    let child = Instance::child(&mut s, inst, n);
    let outer = Frame(base).callee().as_function();
    if child.is_null() {
        // The caller polls before the program uses the closure, and the poll raises an error.
        s.skip_for_memory();
        return Value::function(outer);
    }
    let proto = &(*child).proto;
    let count = proto.upvalues.len();
    let c = s.new_closure(child, count);
    for (i, d) in proto.upvalues.iter().enumerate() {
        let up = if d.in_stack {
            s.find_upvalue(base.add(d.index as usize))
        } else {
            *LuaClosure::upvalue(outer, d.index as usize)
        };
        *LuaClosure::upvalue(c, i) = up;
    }
    Value::function(c)
}
