//! Serialization of Lua values with serde.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ffi::c_void;

use ::serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use perilune_runtime::compare::{float_lt_int, int_lt_float};

use super::{DeserializeOptions as Options, path};
use crate::stack::Raw;
use crate::{Error, LuaString, Result, Table, Value};

/// A value with the options of its serialization ([`Value::to_serializable`]).
pub struct SerializableValue<'a> {
    value: &'a Value,
    options: Options,
    /// The addresses of the tables around the value.
    path: Option<&'a RefCell<Vec<*const c_void>>>,
}

impl Value {
    /// Returns a wrapper of the value that serde can serialize, with configurable options.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let v: perilune::Value = lua.load("{b = 1, a = {2, 3}, f = print}").eval()?;
    /// let v = v.to_serializable().sort_keys(true).deny_unsupported_types(false);
    /// assert_eq!(serde_json::to_string(&v).unwrap(), r#"{"a":[2,3],"b":1}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_serializable(&self) -> SerializableValue<'_> {
        SerializableValue { value: self, options: Options::new(), path: None }
    }
}

macro_rules! options {
    ($($(#[$doc:meta])* $f:ident: $t:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $f(mut self, enabled: $t) -> Self {
            self.options.$f = enabled;
            self
        }
    )*};
}

impl SerializableValue<'_> {
    options! {
        /// Sets [`Options::recursion_limit`].
        recursion_limit: usize;
        /// Sets [`Options::deny_unsupported_types`].
        deny_unsupported_types: bool;
        /// Sets [`Options::deny_recursive_tables`].
        deny_recursive_tables: bool;
        /// Sets [`Options::sort_keys`].
        sort_keys: bool;
        /// Sets [`Options::encode_empty_tables_as_array`].
        encode_empty_tables_as_array: bool;
        /// Sets [`Options::detect_mixed_tables`].
        detect_mixed_tables: bool;
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_serializable().serialize(serializer)
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Value::Table(self.clone()).to_serializable().serialize(serializer)
    }
}

impl Serialize for LuaString {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let bytes = self.as_bytes();
        match std::str::from_utf8(&bytes) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_bytes(&bytes),
        }
    }
}

impl Serialize for SerializableValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.value {
            Value::Nil => serializer.serialize_unit(),
            Value::Boolean(b) => serializer.serialize_bool(*b),
            Value::Integer(i) => serializer.serialize_i64(*i),
            Value::Number(n) => serializer.serialize_f64(*n),
            Value::String(s) => s.serialize(serializer),
            Value::Table(t) => match self.path {
                Some(path) => self.table(t, path, serializer),
                None => self.table(t, &RefCell::default(), serializer),
            },
            v if v.is_null() => serializer.serialize_none(),
            Value::UserData(u) if u.is_serializable() || self.options.deny_unsupported_types => {
                u.serialize(serializer)
            }
            _ if !self.options.deny_unsupported_types => serializer.serialize_unit(),
            v => Err(S::Error::custom(format!("cannot serialize <{}>", v.type_name()))),
        }
    }
}

impl SerializableValue<'_> {
    fn table<S: Serializer>(
        &self,
        t: &Table,
        path: &RefCell<Vec<*const c_void>>,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        if path.borrow().len() >= self.options.recursion_limit {
            return Err(S::Error::custom("recursion limit exceeded"));
        }
        /// Leaves the table.
        struct Leave<'a>(&'a RefCell<Vec<*const c_void>>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.borrow_mut().pop();
            }
        }
        path.borrow_mut().push(t.to_pointer());
        let _leave = Leave(path);
        if let Some(len) = list_len(t, &self.options) {
            let mut seq = serializer.serialize_seq(Some(len))?;
            for i in 1..=len {
                let v: Value = t.raw_get(i).map_err(S::Error::custom)?;
                if !self.skips(&v, path).map_err(S::Error::custom)? {
                    seq.serialize_element(&self.inner(&v, path))?;
                }
            }
            return seq.end();
        }
        let mut map = serializer.serialize_map(None)?;
        let mut pair = |k: Value, v: Value| {
            let skips = k.is_null() && !self.options.deny_unsupported_types
                || self.skips(&k, path).map_err(S::Error::custom)?
                || self.skips(&v, path).map_err(S::Error::custom)?;
            if skips {
                return Ok(());
            }
            map.serialize_entry(&self.inner(&k, path), &self.inner(&v, path))
        };
        if self.options.sort_keys {
            for (k, v) in sorted_pairs(t).map_err(S::Error::custom)? {
                pair(k, v)?;
            }
        } else {
            for kv in t.pairs::<Value, Value>() {
                let (k, v) = kv.map_err(S::Error::custom)?;
                pair(k, v)?;
            }
        }
        map.end()
    }

    /// Serializes an element.
    fn inner<'a>(
        &self,
        value: &'a Value,
        path: &'a RefCell<Vec<*const c_void>>,
    ) -> SerializableValue<'a> {
        SerializableValue { value, options: self.options, path: Some(path) }
    }

    /// Returns whether the options require that an element be skipped.
    fn skips(&self, v: &Value, path: &RefCell<Vec<*const c_void>>) -> Result<bool> {
        let supported = match v {
            Value::Table(t) if path.borrow().contains(&t.to_pointer()) => {
                if self.options.deny_recursive_tables {
                    return Err(Error::SerializeError("recursive table detected".to_owned()));
                }
                return Ok(true);
            }
            Value::UserData(u) => u.is_serializable(),
            Value::LightUserData(p) => p.0.is_null(),
            Value::Function(_) | Value::Thread(_) | Value::Error(_) => false,
            _ => true,
        };
        Ok(!supported && !self.options.deny_unsupported_types)
    }
}

/// Returns the number of elements if the table is a list.
fn list_len(t: &Table, options: &Options) -> Option<usize> {
    let entry = t.0.enter();
    let s = entry.stack();
    let Raw(word) = s.word(&t.0);
    // SAFETY: rooted by its handle.
    unsafe { path::list_len(s, word.as_table(), options) }
}

/// Returns the entries in the order of their keys.
pub(super) fn sorted_pairs(t: &Table) -> Result<Vec<(Value, Value)>> {
    let mut pairs = t.pairs().collect::<Result<Vec<(Value, Value)>>>()?;
    pairs.sort_by(|a, b| order(&a.0, &b.0));
    Ok(pairs)
}

/// Orders keys: nil, null, booleans, numbers, strings, other values by address.
fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |v: &Value| match v {
        Value::Nil => 0,
        v if v.is_null() => 1,
        Value::Boolean(_) => 2,
        Value::Integer(_) | Value::Number(_) => 3,
        Value::String(_) => 4,
        _ => 5,
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Integer(a), Value::Number(b)) => order_mixed(*a, *b),
        (Value::Number(a), Value::Integer(b)) => order_mixed(*b, *a).reverse(),
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => a.to_pointer().cmp(&b.to_pointer()),
    })
}

/// Orders an integer and a float by their exact values. Rounding large integers would make the
/// order of all numbers inconsistent.
fn order_mixed(i: i64, f: f64) -> Ordering {
    if int_lt_float(i, f) {
        Ordering::Less
    } else if float_lt_int(f, i) {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::order;
    use crate::Value;

    #[test]
    fn large_integers_differ_from_floats() {
        let (i, f) = (Value::Integer(i64::MAX), Value::Number(2f64.powi(63)));
        assert_eq!((order(&i, &f), order(&f, &i)), (Ordering::Less, Ordering::Greater));
        let (i, f) = (Value::Integer(i64::MIN), Value::Number(-2f64.powi(63)));
        assert_eq!((order(&i, &f), order(&f, &i)), (Ordering::Equal, Ordering::Equal));
    }
}
