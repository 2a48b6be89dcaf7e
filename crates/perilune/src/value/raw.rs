//! Values on the VM stack.

use perilune_runtime::value::{Tag, Value as Word};

use crate::failure::Failure;
use crate::stack::{Raw, Stack};
use crate::types::LightUserData;
use crate::{AnyUserData, Function, LuaString, Result, Table, Thread, Value};

impl Stack<'_> {
    /// Converts a raw value to a [`Value`].
    pub(crate) fn value(self, v: Raw) -> Value {
        match v.0.tag() {
            Tag::NIL => Value::Nil,
            Tag::FALSE => Value::Boolean(false),
            Tag::TRUE => Value::Boolean(true),
            Tag::INTEGER => Value::Integer(v.0.as_int()),
            Tag::FLOAT => Value::Number(v.0.as_float()),
            Tag::LIGHT => Value::LightUserData(LightUserData::from_bits(v.0.bits())),
            Tag::STRING => Value::String(LuaString(self.handle(v))),
            Tag::TABLE => Value::Table(Table(self.handle(v))),
            Tag::FUNCTION | Tag::NATIVE => Value::Function(Function(self.handle(v))),
            Tag::THREAD => Value::Thread(Thread(self.handle(v))),
            Tag::USERDATA => match self.failure(v) {
                Some(Failure::Error(e)) => Value::Error(Box::new(e.clone())),
                _ => Value::UserData(AnyUserData(self.handle(v))),
            },
            // the iterator positions of inlined loops, which programs cannot see
            _ => Value::Nil,
        }
    }

    /// Converts a [`Value`] to a raw value.
    ///
    /// # Panics
    /// Panics if the value belongs to another state.
    pub(crate) fn raw(self, v: &Value) -> Result<Raw> {
        Ok(match v {
            Value::Nil => Raw(Word::NIL),
            Value::Boolean(b) => Raw(Word::bool(*b)),
            Value::LightUserData(p) => Raw(Word::light(p.bits())),
            Value::Integer(i) => Raw(Word::int(*i)),
            Value::Number(n) => Raw(Word::float(*n)),
            Value::String(LuaString(h))
            | Value::Table(Table(h))
            | Value::Function(Function(h))
            | Value::Thread(Thread(h))
            | Value::UserData(AnyUserData(h)) => self.word(h),
            Value::Error(e) => Failure::Error((**e).clone()).into_raw(self)?,
        })
    }
}
