//! Equality of values.

use perilune_runtime::meta::Event;
use perilune_runtime::native::Val;
use perilune_runtime::value::Value as Word;

use crate::control::Handle;
use crate::{AnyUserData, Result, Table, Value};

impl Value {
    /// Compares two values with `==`, honoring `__eq`.
    ///
    /// # Errors
    /// Returns the error that `__eq` raises.
    pub fn equals(&self, other: &Value) -> Result<bool> {
        match (self, other) {
            (Value::Table(Table(a)), Value::Table(Table(b)))
            | (Value::UserData(AnyUserData(a)), Value::UserData(AnyUserData(b))) => {
                metamethod_equals(a, b)
            }
            (a, b) => Ok(a == b),
        }
    }
}

/// Compares with primitive equality; an integer equals a float of the same value.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Boolean(a), Value::Boolean(b)) => a == b,
            (Value::LightUserData(a), Value::LightUserData(b)) => a == b,
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Integer(i), Value::Number(n)) | (Value::Number(n), Value::Integer(i)) => {
                Word::int(*i).raw_equals(Word::float(*n))
            }
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Table(a), Value::Table(b)) => a == b,
            (Value::Function(a), Value::Function(b)) => a == b,
            (Value::Thread(a), Value::Thread(b)) => a == b,
            (Value::UserData(a), Value::UserData(b)) => a == b,
            _ => false,
        }
    }
}

/// Calls `__eq` of two different objects of one type.
pub(crate) fn metamethod_equals(a: &Handle, b: &Handle) -> Result<bool> {
    if a == b {
        return Ok(true);
    }
    let entry = a.enter();
    let s = entry.stack();
    let top = s.top();
    s.reserve(4)?;
    let cx = s.cx();
    // SAFETY: both are rooted by their handles.
    let (va, vb) = unsafe { (Val::of(cx, s.word(a).0), Val::of(cx, s.word(b).0)) };
    let mut h = cx.metamethod(va, Event::Eq);
    if h.is_nil() {
        h = cx.metamethod(vb, Event::Eq);
    }
    if h.is_nil() {
        return Ok(false);
    }
    cx.push_callee(h);
    cx.push(va);
    cx.push(vb);
    s.traced(top, |cx| cx.call_n(2, 1))?;
    let r = s.cx().get(top).truthy();
    s.cut(top);
    Ok(r)
}
