//! The basic functions (manual 6.1).

mod convert;
mod gc;
mod load;
mod protect;
mod values;

pub(crate) use convert::{is_plain, is_space};
pub use load::{load_file, read_file};
pub(crate) use values::check_metatable;

use perilune_runtime::native::{Builtin, Cx, NativeFn, NativeResult, Raised, Val};

use crate::io::stdout;
use crate::support::{c_str, make_known, prepare_thread, register, registry_table};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("assert", protect::assert),
    ("collectgarbage", gc::collectgarbage),
    ("dofile", load::dofile),
    ("error", protect::error),
    ("getmetatable", values::getmetatable),
    ("loadfile", load::loadfile),
    ("load", load::load),
    ("pcall", protect::pcall),
    ("print", print),
    ("warn", warn),
    ("rawequal", values::rawequal),
    ("rawlen", values::rawlen),
    ("rawget", values::rawget),
    ("rawset", values::rawset),
    ("select", values::select),
    ("tonumber", convert::tonumber),
    ("tostring", convert::tostring),
    ("type", values::type_),
    ("xpcall", protect::xpcall),
];

/// Opens the basic functions.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    prepare_thread();
    let cx = &*cx;
    let g = cx.globals();
    register(cx, g, FUNCTIONS);
    let next = cx.func_known(values::next, &[], Builtin::Next).val();
    g.set_name(cx, "next", next);
    let pairs = cx.func_known(values::pairs, &[next], Builtin::Pairs).hide_bound();
    g.set_name(cx, "pairs", pairs.val());
    let step = cx.func_known(values::ipairs_step, &[], Builtin::IpairsStep).val();
    let ipairs = cx.func_known(values::ipairs, &[step], Builtin::Ipairs).hide_bound();
    g.set_name(cx, "ipairs", ipairs.val());
    let set = cx.func_known(values::setmetatable, &[], Builtin::SetMetatable);
    g.set_name(cx, "setmetatable", set.val());
    make_known(
        cx,
        g,
        &[
            ("assert", Builtin::Assert),
            ("getmetatable", Builtin::GetMetatable),
            ("pcall", Builtin::PCall),
            ("rawequal", Builtin::RawEqual),
            ("rawget", Builtin::RawGet),
            ("rawlen", Builtin::RawLen),
            ("select", Builtin::Select),
            ("tonumber", Builtin::ToNumber),
            ("tostring", Builtin::ToString),
            ("type", Builtin::Type),
        ],
    );
    g.set_name(cx, "_G", g.val());
    g.set_name(cx, "_VERSION", cx.str(b"Lua 5.4").val());
    registry_table(cx, "_LOADED").set_name(cx, "_G", g.val());
    Ok(())
}

/// Implements `print(…)`.
fn print(cx: &mut Cx) -> NativeResult {
    let n = cx.top();
    for i in 0..n {
        let plain = is_plain(cx, cx.get(i));
        if !plain {
            cx.push_tostring(i)?;
        }
        let v = if plain { cx.get(i) } else { cx.get(cx.top() - 1) };
        stdout::print_value(cx, v, if i == 0 { b"" } else { b"\t" });
        if !plain {
            cx.pop(1);
        }
    }
    stdout::end_line();
    cx.ret(0)
}

/// Implements `warn(msg1, …)`.
fn warn(cx: &mut Cx) -> NativeResult {
    cx.check_str(0)?;
    for i in 1..cx.top() {
        cx.check_str(i)?;
    }
    let parts: Vec<&[u8]> = (0..cx.top()).map(|i| c_str(text(cx.get(i)))).collect();
    // As in PUC, where messages that are not shown are not put together, the last part alone is the
    // control message while warnings are off.
    let last = parts[parts.len() - 1];
    let is_whole = parts.len() == 1 || !shows_warnings(cx);
    if is_whole && last.first() == Some(&b'@') && !cx.has_warning_receiver() {
        control_warnings(cx, last);
    } else {
        emit_warning_parts(cx, &parts)?;
    }
    cx.ret(0)
}

/// Shows a warning if warnings are on, or passes it to the host if the host handles warnings.
///
/// # Errors
/// Returns the error that the host raises.
pub fn emit_warning(cx: &Cx, message: &[u8]) -> Result<(), Raised> {
    emit_warning_parts(cx, &[message])
}

fn emit_warning_parts(cx: &Cx, parts: &[&[u8]]) -> Result<(), Raised> {
    if !cx.warn_host(parts)? && shows_warnings(cx) {
        stdout::write_error(b"Lua warning: ");
        parts.iter().for_each(|part| stdout::write_error(part));
        stdout::write_error(b"\n");
    }
    Ok(())
}

/// Returns whether warnings are on.
pub fn shows_warnings(cx: &Cx) -> bool {
    cx.registry().get_name(cx, "_WARN").truthy()
}

/// Turns warnings on or off, as `warn("@on")` and `warn("@off")` do.
pub fn set_warnings(cx: &Cx, on: bool) {
    cx.registry().set_name(cx, "_WARN", Val::bool(on));
}

/// Does what a control message, which begins with `@`, says. Unknown messages have no effect.
pub fn control_warnings(cx: &Cx, message: &[u8]) {
    match message {
        b"@on" => set_warnings(cx, true),
        b"@off" => set_warnings(cx, false),
        _ => {}
    }
}

fn text(v: Val<'_>) -> &[u8] {
    v.as_str().map_or(b"", |s| s.bytes())
}
