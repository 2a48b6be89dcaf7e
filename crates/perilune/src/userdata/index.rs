//! `__index` and `__newindex` of types with computed fields.

use perilune_runtime::native::{Builtin, Cx, NativeFn, NativeResult, Val};

use crate::stack::Raw;
use crate::{Function, Lua, Result, Table, Value};

/// Creates `__index`, which tries getters, then methods, then the `__index` of the type itself. If
/// `strict`, which requires that the type has no `__index`, an unknown field is an error.
pub(super) fn getter(
    lua: &Lua,
    members: &Table,
    getters: &Table,
    own: Value,
    strict: bool,
) -> Result<Function> {
    bind(
        lua,
        index,
        Builtin::FieldIndex,
        &[
            Value::Table(getters.clone()),
            Value::Table(members.clone()),
            own,
            Value::Boolean(strict),
        ],
    )
}

/// Creates `__newindex`, which tries setters, then the `__newindex` of the type itself.
pub(super) fn setter(lua: &Lua, setters: &Table, own: Value) -> Result<Function> {
    bind(lua, new_index, Builtin::Other, &[Value::Table(setters.clone()), own])
}

fn bind(lua: &Lua, f: NativeFn, known: Builtin, values: &[Value]) -> Result<Function> {
    let entry = lua.enter();
    let s = entry.stack();
    s.poll()?;
    let raw: Vec<Raw> = values.iter().map(|v| s.raw(v)).collect::<Result<_>>()?;
    let cx = &*s.cx();
    // SAFETY: rooted by their handles.
    let bound: Vec<Val<'_>> = raw.iter().map(|r| unsafe { Val::of(cx, r.0) }).collect();
    let f = cx.func_known(f, &bound, known).val().raw();
    Ok(Function(s.handle(Raw(f))))
}

/// Implements `__index(userdata, key)`.
fn index(cx: &mut Cx) -> NativeResult {
    if cx.step() == 1 {
        cx.set_top(cx.kept() + 1);
        return cx.ret(1);
    }
    let key = cx.get(1);
    let table = |i: usize| cx.bound(i).as_table();
    if let Some(getter) = table(0).map(|t| t.get(key)).filter(|f| !f.is_nil()) {
        let this = cx.get(0);
        cx.push_callee(getter);
        cx.push(this);
        return cx.call_then(1, 1);
    }
    if let Some(member) = table(1).map(|t| t.get(key)).filter(|m| !m.is_nil()) {
        return cx.ret1(member);
    }
    let own = cx.bound(2);
    if own.as_func().is_some() {
        let this = cx.get(0);
        cx.push_callee(own);
        cx.push(this);
        cx.push(key);
        return cx.call_then(2, 1);
    }
    if !cx.bound(3).truthy() {
        return cx.ret1(Val::NIL);
    }
    Err(unknown(cx, "get"))
}

/// Implements `__newindex(userdata, key, value)`.
fn new_index(cx: &mut Cx) -> NativeResult {
    if cx.step() == 1 {
        return cx.ret(0);
    }
    let (this, key, value) = (cx.get(0), cx.get(1), cx.get(2));
    if let Some(setter) = cx.bound(0).as_table().map(|t| t.get(key)).filter(|f| !f.is_nil()) {
        cx.push_callee(setter);
        cx.push(this);
        cx.push(value);
        return cx.call_then(2, 1);
    }
    let own = cx.bound(1);
    if own.as_func().is_some() {
        cx.push_callee(own);
        cx.push(this);
        cx.push(key);
        cx.push(value);
        return cx.call_then(3, 1);
    }
    if let Some(t) = own.as_table() {
        t.set(cx, key, value)?;
        return cx.ret(0);
    }
    Err(unknown(cx, "set"))
}

fn unknown(cx: &Cx, what: &str) -> perilune_runtime::native::Raised {
    let key = cx.plain_tostring(cx.get(1));
    cx.error([b"attempt to ", what.as_bytes(), b" an unknown field '", key.bytes(), b"'"].concat())
}
