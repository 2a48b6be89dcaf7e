//! Basic functions on values: types, metatables, raw access, traversal, `select`.

use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, NativeResult, Raised, Tab, Val};

/// Implements `type(v)`.
pub(super) fn type_(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    cx.ret1(cx.type_name(v).val())
}

/// Implements `getmetatable(v)`.
pub(super) fn getmetatable(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    let Some(m) = cx.metatable_of(v) else { return cx.ret1(Val::NIL) };
    let hidden = cx.metamethod(v, Event::Metatable);
    cx.ret1(if hidden.is_nil() { m.val() } else { hidden })
}

/// Checks that argument `i` is a metatable or nil.
pub(crate) fn check_metatable(cx: &Cx, i: usize) -> Result<Option<Tab<'_>>, Raised> {
    let v = cx.get(i);
    match v.as_table() {
        Some(t) => Ok(Some(t)),
        None if v.is_nil() && !cx.is_none(i) => Ok(None),
        None => Err(cx.type_error(i, "nil or table")),
    }
}

/// Implements `setmetatable(t, m)`.
pub(super) fn setmetatable(cx: &mut Cx) -> NativeResult {
    let t = cx.check_table(0)?;
    let m = check_metatable(cx, 1)?;
    if t.has_meta() && !cx.metamethod(t.val(), Event::Metatable).is_nil() {
        return Err(cx.error("cannot change a protected metatable"));
    }
    t.set_metatable(cx, m)?;
    cx.ret1(t.val())
}

/// Implements `rawequal(a, b)`.
pub(super) fn rawequal(cx: &mut Cx) -> NativeResult {
    let (a, b) = (cx.check_any(0)?, cx.check_any(1)?);
    cx.ret1(Val::bool(a.raw_equals(b)))
}

/// Implements `rawlen(v)`.
pub(super) fn rawlen(cx: &mut Cx) -> NativeResult {
    let v = cx.get(0);
    match (v.as_table(), v.as_str()) {
        (Some(t), _) => cx.ret1(Val::int(t.len())),
        (_, Some(s)) => cx.ret1(Val::int(s.bytes().len() as i64)),
        _ => Err(cx.type_error(0, "table or string")),
    }
}

/// Implements `rawget(t, k)`.
pub(super) fn rawget(cx: &mut Cx) -> NativeResult {
    let t = cx.check_table(0)?;
    let k = cx.check_any(1)?;
    cx.ret1(t.get(k))
}

/// Implements `rawset(t, k, v)`.
pub(super) fn rawset(cx: &mut Cx) -> NativeResult {
    let t = cx.check_table(0)?;
    let (k, v) = (cx.check_any(1)?, cx.check_any(2)?);
    if let Some(bytes) = t.set_within(cx, k, v)? {
        cx.make_room(bytes)?;
        let (t, k, v) = (cx.check_table(0)?, cx.get(1), cx.get(2));
        if t.set_within(cx, k, v)?.is_some() {
            return Err(cx.memory_error());
        }
    }
    cx.ret1(cx.get(0))
}

/// 2^63. Floats from the negative of this to below it that have no fraction equal an integer.
const INTEGERS: f64 = 9_223_372_036_854_775_808.0;

/// Implements `next(t [, k])`.
pub(super) fn next(cx: &mut Cx) -> NativeResult {
    let t = cx.check_table(0)?;
    let key = cx.get(1);
    // A table never contains a float key that equals an integer, although a lookup of such a float
    // finds the integer's element.
    let is_integer = |x: f64| x.fract() == 0.0 && (-INTEGERS..INTEGERS).contains(&x);
    let found = if key.as_float().is_some_and(is_integer) { None } else { t.next(cx, key) };
    match found {
        Some(Some((k, v))) => {
            cx.push(k);
            cx.push(v);
            cx.ret(2)
        }
        Some(None) => cx.ret1(Val::NIL),
        None => Err(cx.error_plain("invalid key to 'next'")),
    }
}

/// Implements `pairs(t)`; `next` is its bound value.
pub(super) fn pairs(cx: &mut Cx) -> NativeResult {
    if cx.step() != 0 {
        cx.set_top(cx.kept() + 3);
        return cx.ret(3);
    }
    let v = cx.check_any(0)?;
    let handler = cx.metamethod(v, Event::Pairs);
    if handler.is_nil() {
        cx.push(cx.bound(0));
        cx.push(v);
        cx.push(Val::NIL);
        return cx.ret(3);
    }
    cx.push_callee(handler);
    cx.push(v);
    cx.call_then(1, 1)
}

/// Implements `ipairs(t)`; its iterator is its bound value.
pub(super) fn ipairs(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    cx.push(cx.bound(0));
    cx.push(v);
    cx.push(Val::int(0));
    cx.ret(3)
}

/// The iterator of `ipairs`.
pub(super) fn ipairs_step(cx: &mut Cx) -> NativeResult {
    let i = cx.check_int(1)?.wrapping_add(1);
    if let Some(t) = cx.get(0).as_table() {
        let v = t.get_int(i);
        if !v.is_nil() || !t.has_meta() {
            return finish_step(cx, i, v);
        }
    }
    cx.index(0, Val::int(i).raw())?;
    finish_step(cx, i, cx.get(cx.top() - 1))
}

fn finish_step(cx: &Cx, i: i64, v: Val<'_>) -> NativeResult {
    if v.is_nil() {
        return cx.ret1(Val::NIL);
    }
    cx.push(Val::int(i));
    cx.push(v);
    cx.ret(2)
}

/// Implements `select(n, …)`.
pub(super) fn select(cx: &mut Cx) -> NativeResult {
    let n = cx.top() as i64;
    if let Some(s) = cx.get(0).as_str()
        && s.bytes().first() == Some(&b'#')
    {
        return cx.ret1(Val::int(n - 1));
    }
    let i = cx.check_int(0)?;
    let i = if i < 0 { n.saturating_add(i) } else { i.min(n) };
    if i < 1 {
        return Err(cx.arg_error(0, "index out of range"));
    }
    cx.ret((n - i) as usize)
}
