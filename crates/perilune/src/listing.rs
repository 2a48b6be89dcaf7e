//! Listings of bytecode.

use std::sync::Arc;

use perilune_bytecode::{Proto, disassemble, disassemble_function, inner_names, place};
use perilune_jit::DumpRequest;
use perilune_runtime::engine::EngineShared;
use perilune_runtime::native::{Cx, Func};

/// Returns the bytecode of a Lua function and of all functions inside it as text; `None` for
/// functions of the host.
pub fn listing(f: Func<'_>) -> Option<String> {
    Some(disassemble(proto(&f)?, true))
}

/// Returns the bytecode of the functions that a request selects from a Lua function and those
/// inside it, as text; `None` for functions of the host.
pub fn listings_of(f: Func<'_>, request: &DumpRequest) -> Option<String> {
    let mut out = String::new();
    list(&mut out, proto(&f)?, "main", request);
    Some(out)
}

/// Returns the feedback that the interpreter has recorded for a Lua function and all functions
/// inside it, as text; `None` for functions of the host.
pub(crate) fn feedback(f: Func<'_>) -> Option<String> {
    if f.is_native() {
        return None;
    }
    // SAFETY: N2: the function and its instances are alive while `f` is, and no code runs.
    Some(unsafe { (*(*f.val().raw().as_function()).instance).feedback_text() })
}

pub(crate) fn proto<'a>(f: &'a Func<'_>) -> Option<&'a Arc<Proto>> {
    if f.is_native() {
        return None;
    }
    // SAFETY: N2: the function, and so its instance and its proto, are alive while `f` is.
    Some(unsafe { &(*(*f.val().raw().as_function()).instance).proto })
}

/// Returns the engine of a state.
pub(crate) fn engine(cx: &Cx) -> &Arc<EngineShared> {
    // SAFETY: N1: the state is alive.
    unsafe { &(*cx.state()).engine }
}

fn list(out: &mut String, proto: &Proto, name: &str, request: &DumpRequest) {
    if request.matches(name, &place(proto)) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&disassemble_function(proto, name));
    }
    for (inner, name) in proto.protos.iter().zip(inner_names(proto)) {
        list(out, inner, name.as_deref().unwrap_or("anonymous"), request);
    }
}
