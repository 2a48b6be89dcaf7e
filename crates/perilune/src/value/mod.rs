//! Lua values as the host sees them.

mod compare;
mod pretty;
mod raw;

use std::ffi::c_void;

pub(crate) use compare::metamethod_equals;

use crate::types::{Integer, LightUserData, Number};
use crate::{AnyUserData, Error, Function, LuaString, Result, Table, Thread, WeakLua};

pub use Value::Nil;

/// A Lua value. Objects are represented by handles.
#[derive(Clone, Default)]
pub enum Value {
    /// nil
    #[default]
    Nil,
    /// A boolean.
    Boolean(bool),
    /// An address.
    LightUserData(LightUserData),
    /// An integer.
    Integer(Integer),
    /// A float.
    Number(Number),
    /// A string, which need not be UTF-8.
    String(LuaString),
    /// A table.
    Table(Table),
    /// A function, of Lua or of the host.
    Function(Function),
    /// A coroutine.
    Thread(Thread),
    /// A userdata.
    UserData(AnyUserData),
    /// An error of the host.
    Error(Box<Error>),
}

impl Value {
    /// A null light userdata, which represents `null` where nil cannot be used.
    pub const NULL: Value = Value::LightUserData(LightUserData(std::ptr::null_mut()));

    /// Returns the name of the type; numbers are `integer` or `number`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Boolean(_) => "boolean",
            Value::LightUserData(_) => "lightuserdata",
            Value::Integer(_) => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Table(_) => "table",
            Value::Function(_) => "function",
            Value::Thread(_) => "thread",
            Value::UserData(_) => "userdata",
            Value::Error(_) => "error",
        }
    }

    /// Returns the address that identifies an object; null for other values.
    pub fn to_pointer(&self) -> *const c_void {
        match self {
            Value::LightUserData(p) => p.0,
            Value::String(LuaString(h))
            | Value::Table(Table(h))
            | Value::Function(Function(h))
            | Value::Thread(Thread(h))
            | Value::UserData(AnyUserData(h)) => {
                std::ptr::with_exposed_provenance(h.word().bits() as usize)
            }
            _ => std::ptr::null(),
        }
    }

    /// Returns a weak reference to the state of an object; `None` for other values.
    pub fn weak_lua(&self) -> Option<&WeakLua> {
        match self {
            Value::String(LuaString(h))
            | Value::Table(Table(h))
            | Value::Function(Function(h))
            | Value::Thread(Thread(h))
            | Value::UserData(AnyUserData(h)) => Some(&h.control.weak),
            _ => None,
        }
    }

    /// Returns the text that `tostring` produces, honoring `__tostring`.
    ///
    /// # Errors
    /// Returns the error that `__tostring` raises.
    #[allow(clippy::inherent_to_string_shadow_display)]
    #[allow(clippy::should_implement_trait)]
    pub fn to_string(&self) -> Result<String> {
        match self {
            Value::Nil => Ok("nil".to_owned()),
            Value::Boolean(b) => Ok(b.to_string()),
            Value::LightUserData(p) if p.0.is_null() => Ok("null".to_owned()),
            Value::LightUserData(p) => Ok(format!("lightuserdata: {:p}", p.0)),
            Value::Integer(i) => Ok(i.to_string()),
            Value::Number(n) => {
                let mut text = Vec::new();
                let n = perilune_runtime::value::Value::float(*n);
                perilune_runtime::convert::write_number(&mut text, n);
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            Value::String(s) => Ok((*s.to_str()?).to_owned()),
            Value::Error(e) => Ok(e.to_string()),
            Value::Table(Table(h))
            | Value::Function(Function(h))
            | Value::Thread(Thread(h))
            | Value::UserData(AnyUserData(h)) => {
                let entry = h.enter();
                let s = entry.stack();
                let top = s.top();
                s.reserve(2)?;
                s.push(s.word(h));
                s.traced(top, |cx| cx.push_tostring(top))?;
                let text = s.cx().get(top + 1).as_str();
                let text = text.map(|t| String::from_utf8_lossy(t.bytes()).into_owned());
                s.cut(top);
                Ok(text.unwrap_or_default())
            }
        }
    }

    /// Returns whether the value is nil.
    pub const fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }

    /// Returns whether the value is [`Value::NULL`].
    pub fn is_null(&self) -> bool {
        matches!(self, Value::LightUserData(p) if p.0.is_null())
    }

    /// Returns whether the value is a boolean.
    pub const fn is_boolean(&self) -> bool {
        matches!(self, Value::Boolean(_))
    }

    /// Returns the value of a boolean.
    pub const fn as_boolean(&self) -> Option<bool> {
        if let Value::Boolean(b) = self { Some(*b) } else { None }
    }

    /// Returns whether the value is a light userdata.
    pub const fn is_light_userdata(&self) -> bool {
        matches!(self, Value::LightUserData(_))
    }

    /// Returns the light userdata.
    pub const fn as_light_userdata(&self) -> Option<LightUserData> {
        if let Value::LightUserData(p) = self { Some(*p) } else { None }
    }

    /// Returns whether the value is an integer.
    pub const fn is_integer(&self) -> bool {
        matches!(self, Value::Integer(_))
    }

    /// Returns the integer; `None` for other values, including floats.
    pub const fn as_integer(&self) -> Option<Integer> {
        if let Value::Integer(i) = self { Some(*i) } else { None }
    }

    /// Returns the integer if it fits the type.
    pub fn as_i32(&self) -> Option<i32> {
        self.as_integer().and_then(|i| i.try_into().ok())
    }

    /// Returns the integer if it fits the type.
    pub fn as_u32(&self) -> Option<u32> {
        self.as_integer().and_then(|i| i.try_into().ok())
    }

    /// Returns the integer; `None` for other values, including floats.
    pub const fn as_i64(&self) -> Option<i64> {
        self.as_integer()
    }

    /// Returns the integer if it fits the type.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer().and_then(|i| i.try_into().ok())
    }

    /// Returns the integer if it fits the type.
    pub fn as_isize(&self) -> Option<isize> {
        self.as_integer().and_then(|i| i.try_into().ok())
    }

    /// Returns the integer if it fits the type.
    pub fn as_usize(&self) -> Option<usize> {
        self.as_integer().and_then(|i| i.try_into().ok())
    }

    /// Returns whether the value is a float.
    pub const fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// Returns the float; `None` for other values, including integers.
    pub const fn as_number(&self) -> Option<Number> {
        if let Value::Number(n) = self { Some(*n) } else { None }
    }

    /// Returns the float, rounded to the type; `None` for other values, including integers.
    pub const fn as_f32(&self) -> Option<f32> {
        if let Value::Number(n) = self { Some(*n as f32) } else { None }
    }

    /// Returns the float; `None` for other values, including integers.
    pub const fn as_f64(&self) -> Option<f64> {
        self.as_number()
    }

    /// Returns whether the value is a string.
    pub const fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    /// Returns the string.
    pub const fn as_string(&self) -> Option<&LuaString> {
        if let Value::String(s) = self { Some(s) } else { None }
    }

    /// Returns whether the value is a table.
    pub const fn is_table(&self) -> bool {
        matches!(self, Value::Table(_))
    }

    /// Returns the table.
    pub const fn as_table(&self) -> Option<&Table> {
        if let Value::Table(t) = self { Some(t) } else { None }
    }

    /// Returns whether the value is a coroutine.
    pub const fn is_thread(&self) -> bool {
        matches!(self, Value::Thread(_))
    }

    /// Returns the coroutine.
    pub const fn as_thread(&self) -> Option<&Thread> {
        if let Value::Thread(t) = self { Some(t) } else { None }
    }

    /// Returns whether the value is a function.
    pub const fn is_function(&self) -> bool {
        matches!(self, Value::Function(_))
    }

    /// Returns the function.
    pub const fn as_function(&self) -> Option<&Function> {
        if let Value::Function(f) = self { Some(f) } else { None }
    }

    /// Returns whether the value is a userdata.
    pub const fn is_userdata(&self) -> bool {
        matches!(self, Value::UserData(_))
    }

    /// Returns the userdata.
    pub const fn as_userdata(&self) -> Option<&AnyUserData> {
        if let Value::UserData(u) = self { Some(u) } else { None }
    }

    /// Returns whether the value is an error.
    pub const fn is_error(&self) -> bool {
        matches!(self, Value::Error(_))
    }

    /// Returns the error.
    pub fn as_error(&self) -> Option<&Error> {
        if let Value::Error(e) = self { Some(e) } else { None }
    }
}
