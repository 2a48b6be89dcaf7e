//! Conversions of collections: lists, maps and sets are tables.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use either::Either;

use crate::traits::{FromLua, IntoLua};
use crate::types::short_type_name;
use crate::{Error, Lua, Result, Table, Value};

fn expect_table<T>(value: Value) -> Result<Table> {
    match value {
        Value::Table(t) => Ok(t),
        v => Err(Error::from_lua_conversion(
            v.type_name(),
            short_type_name::<T>(),
            "expected table".to_owned(),
        )),
    }
}

macro_rules! lists {
    ($([$($g:tt)*] $t:ty: $list:ident => $items:expr;)*) => {$(
        impl<$($g)*> IntoLua for $t {
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                let $list = self;
                lua.create_sequence_from($items).map(Value::Table)
            }
        }
    )*};
}

lists! {
    [T: IntoLua] Vec<T>: list => list;
    [T: IntoLua] Box<[T]>: list => list.into_vec();
    [T: IntoLua + Clone] &[T]: list => list.iter().cloned();
    [T: IntoLua, const N: usize] [T; N]: list => list;
}

impl<T: FromLua> FromLua for Vec<T> {
    fn from_lua(value: Value, _: &Lua) -> Result<Vec<T>> {
        let table = expect_table::<Vec<T>>(value)?;
        let mut values = Vec::with_capacity(table.raw_len().min(1 << 16));
        table.for_each_to_border(|v| {
            values.push(v);
            Ok(())
        })?;
        Ok(values)
    }
}

impl<T: FromLua> FromLua for Box<[T]> {
    fn from_lua(value: Value, lua: &Lua) -> Result<Box<[T]>> {
        Vec::from_lua(value, lua).map(Vec::into_boxed_slice)
    }
}

impl<T: FromLua, const N: usize> FromLua for [T; N] {
    fn from_lua(value: Value, lua: &Lua) -> Result<[T; N]> {
        let name = short_type_name::<[T; N]>;
        match value {
            Value::Table(_) => Vec::<T>::from_lua(value, lua)?.try_into().map_err(|v: Vec<T>| {
                let message = format!("expected table of length {N}, got {}", v.len());
                Error::from_lua_conversion("table", name(), message)
            }),
            v => {
                let message = format!("expected table of length {N}");
                Err(Error::from_lua_conversion(v.type_name(), name(), message))
            }
        }
    }
}

macro_rules! maps {
    ($([$($into:tt)*] [$($from:tt)*] $t:ty;)*) => {$(
        impl<$($into)*> IntoLua for $t {
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                lua.create_table_from(self).map(Value::Table)
            }
        }

        impl<$($from)*> FromLua for $t {
            fn from_lua(value: Value, _: &Lua) -> Result<Self> {
                expect_table::<Self>(value)?.pairs().collect()
            }
        }
    )*};
}

maps! {
    [K: Eq + Hash + IntoLua, V: IntoLua, S: BuildHasher]
    [K: Eq + Hash + FromLua, V: FromLua, S: BuildHasher + Default] HashMap<K, V, S>;
    [K: Ord + IntoLua, V: IntoLua] [K: Ord + FromLua, V: FromLua] BTreeMap<K, V>;
}

macro_rules! sets {
    ($([$($into:tt)*] [$($from:tt)*] $t:ty;)*) => {$(
        impl<$($into)*> IntoLua for $t {
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                lua.create_table_from(self.into_iter().map(|v| (v, true))).map(Value::Table)
            }
        }

        /// Converts the keys of the table or, if it is a list, its values.
        impl<$($from)*> FromLua for $t {
            fn from_lua(value: Value, _: &Lua) -> Result<Self> {
                let table = expect_table::<Self>(value)?;
                if table.raw_len() > 0 && !matches!(table.raw_get(1)?, Value::Boolean(true)) {
                    return table.sequence_values().collect();
                }
                table.pairs::<T, Value>().map(|r| r.map(|(k, _)| k)).collect()
            }
        }
    )*};
}

sets! {
    [T: Eq + Hash + IntoLua, S: BuildHasher]
    [T: Eq + Hash + FromLua, S: BuildHasher + Default] HashSet<T, S>;
    [T: Ord + IntoLua] [T: Ord + FromLua] BTreeSet<T>;
}

impl<L: IntoLua, R: IntoLua> IntoLua for Either<L, R> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        match self {
            Either::Left(l) => l.into_lua(lua),
            Either::Right(r) => r.into_lua(lua),
        }
    }
}

impl<L: FromLua, R: FromLua> FromLua for Either<L, R> {
    fn from_lua(value: Value, lua: &Lua) -> Result<Either<L, R>> {
        let from = value.type_name();
        if let Ok(l) = L::from_lua(value.clone(), lua) {
            return Ok(Either::Left(l));
        }
        R::from_lua(value, lua)
            .map(Either::Right)
            .map_err(|_| Error::from_lua_conversion(from, short_type_name::<Either<L, R>>(), None))
    }
}
