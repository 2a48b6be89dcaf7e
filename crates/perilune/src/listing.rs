//! Listings of bytecode.

use perilune_runtime::native::Func;

/// The bytecode of a Lua function and of all functions inside it, as text; `None` for functions of the host.
pub fn listing(f: Func<'_>) -> Option<String> {
    if f.is_native() {
        return None;
    }
    // SAFETY: N2: the function, and so its instance and its proto, are alive while `f` is.
    let proto = unsafe { &(*(*f.val().raw().as_function()).instance).proto };
    Some(perilune_bytecode::disassemble(proto, true))
}
