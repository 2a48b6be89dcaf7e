//! Panics of conversions, callbacks and destructors, and the state afterwards.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perilune::{FromLua, Function, IntoLua, Lua, Result, Table, UserData, Value};

/// Panics when it is converted, in either direction.
struct Panics;

impl IntoLua for Panics {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        resume_unwind(Box::new("into"))
    }
}

impl FromLua for Panics {
    fn from_lua(_: Value, _: &Lua) -> Result<Panics> {
        resume_unwind(Box::new("from"))
    }
}

/// Runs `f`, which panics.
fn panics<R>(f: impl FnOnce() -> R) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn panics_of_conversions_leave_nothing_on_the_stack() -> Result<()> {
    let lua = Lua::new();
    let same: Function = lua.load("function(...) return ... end").eval()?;
    let t = lua.create_table_from([("k", 1)])?;
    let co = lua.create_thread(same.clone())?;
    let kept = lua.create_table()?;
    let weak: Table = lua.load("setmetatable({}, {__mode = 'v'})").eval()?;
    weak.set(1, &kept)?;
    lua.gc_collect()?;
    let before = lua.used_memory();
    for _ in 0..5_000 {
        panics(|| same.call::<()>((1, &kept, Panics)));
        panics(|| same.call::<Panics>((1, 2, 3)));
        panics(|| same.bind((1, Panics)));
        panics(|| t.for_each(|_: Value, _: Value| -> Result<()> { resume_unwind(Box::new(1)) }));
        panics(|| t.set("k", Panics));
        panics(|| t.get::<Panics>("k"));
        panics(|| t.pairs::<String, Panics>().count());
        panics(|| lua.create_sequence_from([Panics, Panics]));
    }
    panics(|| co.resume::<()>((1, Panics)));
    lua.gc_collect()?;
    let more = lua.used_memory().saturating_sub(before);
    assert!(more < 50_000, "the stack grew: {more} bytes");
    assert_eq!(same.call::<(i64, i64)>((1, 2))?, (1, 2));
    assert_eq!(t.get::<i64>("k")?, 1);
    drop(kept);
    lua.gc_collect()?;
    lua.gc_collect()?;
    assert!(weak.get::<Value>(1)?.is_nil(), "an argument is still on the stack");
    Ok(())
}

/// Becomes 42, after a panic that it catches.
struct Catches(Table);

impl IntoLua for Catches {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        panics(|| {
            self.0.for_each(|_: Value, _: Value| -> Result<()> { resume_unwind(Box::new(1)) })
        });
        Ok(Value::Integer(42))
    }
}

#[test]
fn panics_caught_in_conversions_do_not_shift_values() -> Result<()> {
    let lua = Lua::new();
    let t = lua.create_table_from([("k", "v")])?;
    let same: Function = lua.load("function(...) return ... end").eval()?;
    let all = same.call::<(i64, i64, i64)>((1, Catches(t.clone()), 3))?;
    assert_eq!(all, (1, 42, 3));
    t.set("k", Catches(t.clone()))?;
    assert_eq!(t.get::<i64>("k")?, 42);
    let list = lua.create_sequence_from((0..3).map(|_| Catches(t.clone())))?;
    assert_eq!(list.sequence_values().collect::<Result<Vec<i64>>>()?, [42, 42, 42]);
    let f = lua.create_function(move |_, ()| Ok((1, Catches(t.clone()), 3)))?;
    assert_eq!(f.call::<(i64, i64, i64)>(())?, (1, 42, 3));
    Ok(())
}

/// Counts its drops, and panics then if `panics` is set.
struct Dropped {
    count: Arc<AtomicU32>,
    panics: bool,
}

impl UserData for Dropped {}

impl Drop for Dropped {
    fn drop(&mut self) {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        if self.panics {
            resume_unwind(Box::new(before));
        }
    }
}

fn with_droppable(count: &Arc<AtomicU32>) -> Result<Lua> {
    let lua = Lua::new();
    for i in 0..20 {
        lua.globals().set(i, Dropped { count: count.clone(), panics: i % 2 == 0 })?;
    }
    Ok(lua)
}

#[test]
fn destructors_that_panic_do_not_keep_others_from_running() -> Result<()> {
    let count = Arc::new(AtomicU32::new(0));
    let lua = with_droppable(&count)?;
    panics(move || drop(lua));
    assert_eq!(count.swap(0, Ordering::Relaxed), 20);

    let lua = with_droppable(&count)?;
    lua.load("for i = 0, 19 do _G[i] = nil end").exec()?;
    panics(|| lua.gc_collect());
    assert_eq!(count.load(Ordering::Relaxed), 20);
    lua.gc_collect()?;
    assert_eq!(lua.load("return 1 + 1").eval::<i64>()?, 2);
    drop(lua);
    assert_eq!(count.load(Ordering::Relaxed), 20);

    // a state that is dropped while a panic unwinds
    let lua = with_droppable(&count)?;
    panics(move || {
        let _lua = lua;
        resume_unwind(Box::new("first"));
    });
    assert_eq!(count.load(Ordering::Relaxed), 40);
    Ok(())
}

#[test]
fn panics_while_errors_are_shown_are_caught() -> Result<()> {
    #[derive(Debug)]
    struct Secret;
    impl std::error::Error for Secret {}
    impl std::fmt::Display for Secret {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            resume_unwind(Box::new("shown"))
        }
    }
    let lua = Lua::new();
    let make = lua.create_function(|_, ()| Ok(perilune::Error::external(Secret)))?;
    let text = "local make, closed = ...
        local caught = pcall(function()
            local x <close> = setmetatable({}, {__close = function() closed = true end})
            return tostring(make())
        end)
        return caught, closed";
    assert_eq!(lua.load(text).call::<(bool, bool)>((make, false))?, (false, true));
    Ok(())
}
