//! The module `counters`, in Rust, which module.lua requires.

use mlua::prelude::*;

/// An object with state and a finalizer.
struct Counter {
    name: String,
    count: i64,
}

impl LuaUserData for Counter {
    fn add_fields<F: LuaUserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("name", |_, this| Ok(this.name.clone()));
    }

    fn add_methods<M: LuaUserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("add", |_, this, n: Option<i64>| {
            this.count = this.count.checked_add(n.unwrap_or(1)).ok_or_else(too_large)?;
            Ok(this.count)
        });
        methods.add_meta_method(LuaMetaMethod::Len, |_, this, ()| Ok(this.count));
        methods.add_meta_method(LuaMetaMethod::ToString, |_, this, ()| {
            Ok(format!("{}: {}", this.name, this.count))
        });
    }
}

fn too_large() -> LuaError {
    LuaError::runtime("the count is too large")
}

/// Returns how often each word occurs in a text.
fn words(lua: &Lua, text: LuaString) -> LuaResult<LuaTable> {
    let counts = lua.create_table()?;
    for word in text.to_str()?.split_whitespace() {
        let count: Option<i64> = counts.get(word)?;
        counts.set(word, count.unwrap_or(0) + 1)?;
    }
    Ok(counts)
}

/// Calls a function with each number up to `n` and returns the sum of its results.
fn sum(_: &Lua, (n, f): (i64, LuaFunction)) -> LuaResult<i64> {
    (1..=n).try_fold(0i64, |sum, i| Ok(sum.wrapping_add(f.call::<i64>(i)?)))
}

/// Resumes a function as a coroutine until it ends; returns the values that it has yielded.
fn yields(lua: &Lua, f: LuaFunction) -> LuaResult<Vec<LuaValue>> {
    let thread = lua.create_thread(f)?;
    let mut all = Vec::new();
    while thread.status() == LuaThreadStatus::Resumable {
        all.push(thread.resume::<LuaValue>(())?);
    }
    Ok(all)
}

#[mlua::lua_module]
fn counters(lua: &Lua) -> LuaResult<LuaTable> {
    let exports = lua.create_table()?;
    let new = |_: &Lua, name: String| Ok(Counter { name, count: 0 });
    exports.set("new", lua.create_function(new)?)?;
    exports.set("words", lua.create_function(words)?)?;
    exports.set("sum", lua.create_function(sum)?)?;
    exports.set("yields", lua.create_function(yields)?)?;
    exports.set("panic", lua.create_function(|_, ()| -> LuaResult<()> { panic!("on purpose") })?)?;
    Ok(exports)
}
