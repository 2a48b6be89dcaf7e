//! Conversions of arguments and results.

use std::collections::VecDeque;

use perilune_runtime::value::Value as Word;

use crate::stack::{Raw, Stack};
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::{Lua, MultiValue, Result, Value, Variadic};

const NIL: Raw = Raw(Word::NIL);

impl IntoLuaMulti for MultiValue {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(self)
    }
}

impl IntoLuaMulti for &MultiValue {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(self.clone())
    }
}

impl FromLuaMulti for MultiValue {
    fn from_lua_multi(values: MultiValue, _: &Lua) -> Result<MultiValue> {
        Ok(values)
    }
}

impl<T: IntoLua> IntoLuaMulti for Variadic<T> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        self.0.into_iter().map(|v| v.into_lua(lua)).collect()
    }

    #[inline]
    unsafe fn push_into_stack_multi(self, s: Stack<'_>) -> Result<usize> {
        let n = self.0.len();
        s.reserve(n)?;
        for v in self.0 {
            // SAFETY: the value is pushed at once.
            let raw = unsafe { v.into_lua_raw(s)? };
            s.push(raw);
        }
        Ok(n)
    }
}

impl<T: FromLua> FromLuaMulti for Variadic<T> {
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Variadic<T>> {
        values.into_iter().map(|v| T::from_lua(v, lua)).collect()
    }

    #[inline]
    unsafe fn from_stack_multi(at: usize, n: usize, s: Stack<'_>) -> Result<Variadic<T>> {
        // SAFETY: the values exist.
        (at..at + n).map(|i| unsafe { T::from_lua_raw(s.get(i), s) }).collect()
    }

    #[inline]
    unsafe fn from_stack_args(
        at: usize,
        n: usize,
        first: usize,
        to: Option<&str>,
        s: Stack<'_>,
    ) -> Result<Variadic<T>> {
        let one = |i: usize| {
            // SAFETY: the values exist.
            let r = unsafe { T::from_lua_raw(s.get(at + i), s) };
            r.map_err(|e| e.bad_argument(first + i, to))
        };
        (0..n).map(one).collect()
    }
}

impl<T: IntoLua> IntoLuaMulti for T {
    #[inline]
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        Ok(MultiValue(VecDeque::from([self.into_lua(lua)?])))
    }

    #[inline(always)]
    unsafe fn push_into_stack_multi(self, s: Stack<'_>) -> Result<usize> {
        // SAFETY: the value is pushed at once.
        let raw = unsafe { self.into_lua_raw(s)? };
        s.push(raw);
        Ok(1)
    }
}

impl<T: FromLua> FromLuaMulti for T {
    #[inline]
    fn from_lua_multi(mut values: MultiValue, lua: &Lua) -> Result<T> {
        T::from_lua(values.pop_front().unwrap_or(Value::Nil), lua)
    }

    #[inline(always)]
    unsafe fn from_stack_multi(at: usize, n: usize, s: Stack<'_>) -> Result<T> {
        // SAFETY: the values exist.
        unsafe { T::from_lua_raw(if n > 0 { s.get(at) } else { NIL }, s) }
    }

    #[inline(always)]
    unsafe fn from_stack_args(
        at: usize,
        n: usize,
        i: usize,
        to: Option<&str>,
        s: Stack<'_>,
    ) -> Result<T> {
        // SAFETY: the values exist.
        unsafe { T::from_stack_multi(at, n, s) }.map_err(|e| e.bad_argument(i, to))
    }

    fn from_lua_args(mut args: MultiValue, i: usize, to: Option<&str>, lua: &Lua) -> Result<T> {
        T::from_lua_arg(args.pop_front().unwrap_or(Value::Nil), i, to, lua)
    }
}

impl<T: IntoLua, E: IntoLua> IntoLuaMulti for std::result::Result<T, E> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        match self {
            Ok(v) => v.into_lua_multi(lua),
            Err(e) => (Value::Nil, e).into_lua_multi(lua),
        }
    }
}

impl<E: IntoLua> IntoLuaMulti for std::result::Result<(), E> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        match self {
            Ok(()) => Ok(MultiValue::new()),
            Err(e) => (Value::Nil, e).into_lua_multi(lua),
        }
    }
}

macro_rules! tuples {
    ($($count:literal: $($name:ident)* ; $last:ident,)*) => {$(
        impl<$($name: IntoLua,)* $last: IntoLuaMulti> IntoLuaMulti for ($($name,)* $last,) {
            #[allow(non_snake_case)]
            fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
                let ($($name,)* $last,) = self;
                #[allow(unused_mut)]
                let mut first: Vec<Value> = vec![$($name.into_lua(lua)?),*];
                let mut rest = $last.into_lua_multi(lua)?;
                while let Some(v) = first.pop() {
                    rest.push_front(v);
                }
                Ok(rest)
            }

            #[inline(always)]
            #[allow(non_snake_case)]
            unsafe fn push_into_stack_multi(self, s: Stack<'_>) -> Result<usize> {
                let ($($name,)* $last,) = self;
                s.reserve($count)?;
                // SAFETY: each is pushed at once.
                unsafe {
                    $(
                        let raw = $name.into_lua_raw(s)?;
                        s.push(raw);
                    )*
                    Ok($count - 1 + $last.push_into_stack_multi(s)?)
                }
            }
        }

        impl<$($name: FromLua,)* $last: FromLuaMulti> FromLuaMulti for ($($name,)* $last,) {
            #[allow(non_snake_case, unused_mut)]
            fn from_lua_multi(mut values: MultiValue, lua: &Lua) -> Result<Self> {
                $(let $name = $name::from_lua(values.pop_front().unwrap_or(Value::Nil), lua)?;)*
                let $last = $last::from_lua_multi(values, lua)?;
                Ok(($($name,)* $last,))
            }

            #[allow(non_snake_case, unused_mut, unused_assignments)]
            fn from_lua_args(
                mut args: MultiValue,
                mut i: usize,
                to: Option<&str>,
                lua: &Lua,
            ) -> Result<Self> {
                $(
                    let value = args.pop_front().unwrap_or(Value::Nil);
                    let $name = $name::from_lua_arg(value, i, to, lua)?;
                    i += 1;
                )*
                let $last = $last::from_lua_args(args, i, to, lua)?;
                Ok(($($name,)* $last,))
            }

            #[inline(always)]
            #[allow(non_snake_case, unused_mut, unused_assignments)]
            unsafe fn from_stack_multi(mut at: usize, mut n: usize, s: Stack<'_>) -> Result<Self> {
                // SAFETY: the values exist.
                unsafe {
                    $(
                        let $name = $name::from_lua_raw(if n > 0 { s.get(at) } else { NIL }, s)?;
                        at += 1;
                        n = n.saturating_sub(1);
                    )*
                    let $last = $last::from_stack_multi(at, n, s)?;
                    Ok(($($name,)* $last,))
                }
            }

            #[inline(always)]
            #[allow(non_snake_case, unused_mut, unused_assignments)]
            unsafe fn from_stack_args(
                mut at: usize,
                mut n: usize,
                mut i: usize,
                to: Option<&str>,
                s: Stack<'_>,
            ) -> Result<Self> {
                // SAFETY: the values exist.
                unsafe {
                    $(
                        let value = if n > 0 { s.get(at) } else { NIL };
                        let $name = match $name::from_lua_raw(value, s) {
                            Ok(v) => v,
                            Err(e) => return Err(e.bad_argument(i, to)),
                        };
                        at += 1;
                        i += 1;
                        n = n.saturating_sub(1);
                    )*
                    let $last = $last::from_stack_args(at, n, i, to, s)?;
                    Ok(($($name,)* $last,))
                }
            }
        }
    )*};
}

tuples! {
    1: ; A,
    2: A; B,
    3: A B; C,
    4: A B C; D,
    5: A B C D; E,
    6: A B C D E; F,
    7: A B C D E F; G,
    8: A B C D E F G; H,
    9: A B C D E F G H; I,
    10: A B C D E F G H I; J,
    11: A B C D E F G H I J; K,
    12: A B C D E F G H I J K; L,
    13: A B C D E F G H I J K L; M,
    14: A B C D E F G H I J K L M; N,
    15: A B C D E F G H I J K L M N; O,
    16: A B C D E F G H I J K L M N O; P,
}

impl IntoLuaMulti for () {
    #[inline]
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(MultiValue::new())
    }

    #[inline(always)]
    unsafe fn push_into_stack_multi(self, _: Stack<'_>) -> Result<usize> {
        Ok(0)
    }
}

impl FromLuaMulti for () {
    #[inline]
    fn from_lua_multi(_: MultiValue, _: &Lua) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    unsafe fn from_stack_multi(_: usize, _: usize, _: Stack<'_>) -> Result<()> {
        Ok(())
    }
}
