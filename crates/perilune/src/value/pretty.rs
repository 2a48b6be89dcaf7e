//! Text of values for `{:?}`, and for `{:#?}` with the contents of tables.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::c_void;
use std::fmt::{Debug, Formatter, Result};

use crate::{Function, Table, Thread, Value};

/// The indentation, in columns, below which tables are shown by their address only: a script may
/// build tables that are too deep for the native stack.
const MAX_INDENT: usize = 2 * 128;

/// Tables that have been visited.
type Seen = HashSet<*const c_void>;

/// `{:#?}` shows the contents of tables.
impl Debug for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if f.alternate() {
            return value(self, f, 0, &mut Default::default());
        }
        match self {
            Value::Nil => f.write_str("Nil"),
            Value::Boolean(b) => write!(f, "Boolean({b})"),
            Value::LightUserData(p) => write!(f, "{p:?}"),
            Value::Integer(i) => write!(f, "Integer({i})"),
            Value::Number(n) => write!(f, "Number({n})"),
            Value::String(s) => write!(f, "String({s:?})"),
            Value::Table(t) => write!(f, "{t:?}"),
            Value::Function(x) => write!(f, "{x:?}"),
            Value::Thread(t) => write!(f, "{t:?}"),
            Value::UserData(u) => write!(f, "{u:?}"),
            Value::Error(e) => write!(f, "Error({e:?})"),
        }
    }
}

impl Debug for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if f.alternate() && self.0.control.is_alive() {
            return table(self, f, 0, &mut Default::default());
        }
        write!(f, "Table{:?}", self.0)
    }
}

/// Shows a value.
fn value(v: &Value, f: &mut Formatter<'_>, indent: usize, seen: &mut Seen) -> Result {
    match v {
        Value::Nil => f.write_str("nil"),
        Value::Boolean(b) => write!(f, "{b}"),
        Value::Integer(i) => write!(f, "{i}"),
        Value::Number(n) => write!(f, "{n}"),
        Value::String(s) => write!(f, "{s:?}"),
        Value::LightUserData(p) if p.0.is_null() => f.write_str("null"),
        Value::Table(Table(h)) | Value::Function(Function(h)) | Value::Thread(Thread(h))
            if !h.control.is_alive() =>
        {
            write!(f, "{}: <destroyed>", v.type_name())
        }
        Value::Table(t) if indent < MAX_INDENT && !seen.contains(&t.to_pointer()) => {
            table(t, f, indent, seen)
        }
        Value::UserData(u) => write!(f, "{u:#?}"),
        Value::Error(e) => write!(f, "{e:?}"),
        v => write!(f, "{}: {:?}", v.type_name(), v.to_pointer()),
    }
}

/// Shows a table: its entries in the order of their keys, without metamethods.
fn table(t: &Table, f: &mut Formatter<'_>, indent: usize, seen: &mut Seen) -> Result {
    seen.insert(t.to_pointer());
    let mut pairs: Vec<(Value, Value)> = t.pairs().flatten().collect();
    if pairs.is_empty() {
        return f.write_str("{}");
    }
    pairs.sort_by(|(a, _), (b, _)| order(a, b));
    let is_list =
        pairs.iter().zip(1..).all(|((k, _), i)| matches!(k, Value::Integer(n) if *n == i));
    f.write_str("{\n")?;
    for (k, v) in pairs {
        write!(f, "{:1$}", "", indent + 2)?;
        match &k {
            _ if is_list => {}
            Value::String(s) if is_name(&s.as_bytes()) => write!(f, "{} = ", s.display())?,
            Value::Table(t) => write!(f, "[table: {:?}] = ", t.to_pointer())?,
            k => {
                f.write_str("[")?;
                value(k, f, indent + 2, seen)?;
                f.write_str("] = ")?;
            }
        }
        value(&v, f, indent + 2, seen)?;
        f.write_str(",\n")?;
    }
    write!(f, "{:1$}}}", "", indent)
}

fn is_name(bytes: &[u8]) -> bool {
    !bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_')
}

/// Orders keys: booleans, then numbers, then strings, then other values by kind.
fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Boolean(_) => 0,
        Value::Integer(_) | Value::Number(_) => 1,
        Value::String(_) => 2,
        _ => 3,
    };
    match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (a, b) => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => (rank(a), a.type_name(), a.to_pointer()).cmp(&(
                rank(b),
                b.type_name(),
                b.to_pointer(),
            )),
        },
    }
}
