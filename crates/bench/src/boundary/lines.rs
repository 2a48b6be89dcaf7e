//! The measured operations. This file is compiled twice, against `perilune` and against `mlua`:
//! only the crate that `api` names differs.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::api::{
    Function, Lua, LuaSerdeExt, Result, Table, UserData, UserDataFields, UserDataMethods,
};
use crate::boundary::{Goal, Line};

struct Counter {
    n: i64,
}

/// A type with methods only, and a type that also has fields, which are looked up first.
struct Plain {
    n: i64,
}

impl UserData for Plain {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("plus", |_, this, k: i64| Ok(this.n + k));
    }
}

impl UserData for Counter {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("n", |_, this| Ok(this.n));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("plus", |_, this, k: i64| Ok(this.n + k));
        methods.add_method_mut("add", |_, this, k: i64| {
            this.n += k;
            Ok(())
        });
    }
}

/// Returns a line whose operation is repeated by the host.
fn host<F>(name: &'static str, goal: Goal, f: F) -> Line
where
    F: FnMut(u64) -> Result<()> + 'static,
{
    let mut f = f;
    Line::new(name, goal, move |n| f(n).map_err(|e| e.to_string()))
}

/// Returns a line whose operation is repeated by a loop of Lua, which is the function's argument.
fn script(name: &'static str, goal: Goal, lua: Lua, source: &str) -> Result<Line> {
    let f: Function = lua.load(source).eval()?;
    Ok(host(name, goal, move |n| {
        let _state = &lua;
        f.call::<()>(n)
    }))
}

/// Returns a table with fields and elements.
fn sample(lua: &Lua) -> Result<Table> {
    lua.load("{ alpha = 1, beta = 2, gamma = 3, delta = 4, 10, 20, 30, 40, 50, 60, 70, 80 }").eval()
}

/// Returns all lines.
pub(in crate::boundary) fn lines() -> Result<Vec<Line>> {
    let mut all = calls()?;
    all.extend(tables()?);
    all.extend(objects()?);
    all.extend(states()?);
    all.extend(iteration()?);
    all.extend(serde()?);
    Ok(all)
}

fn calls() -> Result<Vec<Line>> {
    let lua = Lua::new();
    let add: Function = lua.load("function(a, b) return a + b end").eval()?;
    let called = host("host calls Lua, (i64, i64) -> i64", Goal::HALF, move |n| {
        let _state = &lua;
        let mut x = 0;
        for i in 0..n as i64 {
            x = add.call::<i64>((x, i))?;
        }
        black_box(x);
        Ok(())
    });

    let lua = Lua::new();
    let echo: Function = lua.load("function(s) return s end").eval()?;
    let text = host("host calls Lua, &str -> String", Goal::EQUAL, move |n| {
        let _state = &lua;
        for _ in 0..n {
            black_box(echo.call::<String>("a text of some length")?);
        }
        Ok(())
    });

    let lua = Lua::new();
    let f = lua.create_function(|_, (a, b): (i64, i64)| Ok(a.wrapping_add(b)))?;
    lua.globals().set("add", f)?;
    let source = "function(n) local add, x = add, 0 for i = 1, n do x = add(x, i) end end";
    let calls = script("Lua calls host, (i64, i64) -> i64", Goal::HALF, lua, source)?;

    let lua = Lua::new();
    let f = lua.create_function(|_, s: String| Ok(s.len()))?;
    lua.globals().set("len", f)?;
    let source = "function(n) local len = len for i = 1, n do len('a text of some length') end end";
    let calls_text = script("Lua calls host, String -> usize", Goal::EQUAL, lua, source)?;
    Ok(vec![called, text, calls, calls_text])
}

fn tables() -> Result<Vec<Line>> {
    let lua = Lua::new();
    let t = sample(&lua)?;
    let get_field = host("table.get, string key", Goal::HALF, move |n| {
        let _state = &lua;
        let mut sum = 0;
        for _ in 0..n {
            sum += t.get::<i64>("gamma")?;
        }
        black_box(sum);
        Ok(())
    });

    let lua = Lua::new();
    let t = sample(&lua)?;
    let set_field = host("table.set, string key", Goal::EQUAL, move |n| {
        let _state = &lua;
        for i in 0..n as i64 {
            t.set("gamma", i)?;
        }
        Ok(())
    });

    let lua = Lua::new();
    let t = sample(&lua)?;
    let get_element = host("table.get, integer key", Goal::HALF, move |n| {
        let _state = &lua;
        let mut sum = 0;
        for i in 0..n as i64 {
            sum += t.get::<i64>((i & 7) + 1)?;
        }
        black_box(sum);
        Ok(())
    });

    let lua = Lua::new();
    let t = sample(&lua)?;
    let set_element = host("table.set, integer key", Goal::EQUAL, move |n| {
        let _state = &lua;
        for i in 0..n as i64 {
            t.set((i & 7) + 1, i)?;
        }
        Ok(())
    });
    Ok(vec![get_field, set_field, get_element, set_element])
}

fn objects() -> Result<Vec<Line>> {
    let lua = Lua::new();
    lua.globals().set("c", Plain { n: 1 })?;
    let method = "function(n) local c, x = c, 0 for i = 1, n do x = c:plus(i) end end";
    let plain = script("userdata method from Lua", Goal::HALF, lua, method)?;

    let line = |name, goal, source| {
        let lua = Lua::new();
        lua.globals().set("c", Counter { n: 1 })?;
        script(name, goal, lua, source)
    };
    let method_mut = "function(n) local c = c for i = 1, n do c:add(i) end end";
    let field = "function(n) local c, x = c, 0 for i = 1, n do x = x + c.n end end";

    let lua = Lua::new();
    let create = host("create userdata", Goal::EQUAL, move |n| {
        for i in 0..n as i64 {
            black_box(lua.create_userdata(Counter { n: i })?);
        }
        Ok(())
    });
    Ok(vec![
        plain,
        line("userdata method, type with fields", Goal::HALF, method)?,
        line("userdata method, mutable, likewise", Goal::HALF, method_mut)?,
        line("userdata field from Lua", Goal::EQUAL, field)?,
        create,
    ])
}

fn states() -> Result<Vec<Line>> {
    let lua = Lua::new();
    let mut count = 0u64;
    let short = host("create string, 16 bytes", Goal::EQUAL, move |n| {
        for _ in 0..n {
            count += 1;
            let mut bytes = *b"name 00000000 xy";
            bytes[5..13].copy_from_slice(&count.to_le_bytes());
            black_box(lua.create_string(bytes)?);
        }
        Ok(())
    });

    let lua = Lua::new();
    let same = host("create string, 16 bytes, known", Goal::EQUAL, move |n| {
        for _ in 0..n {
            black_box(lua.create_string("name 00000000 xy")?);
        }
        Ok(())
    });

    let lua = Lua::new();
    let bytes = vec![b'x'; 1024];
    let long = host("create string, 1 KB", Goal::EQUAL, move |n| {
        for _ in 0..n {
            black_box(lua.create_string(&bytes)?);
        }
        Ok(())
    });

    let lua = Lua::new();
    let table = host("create table", Goal::EQUAL, move |n| {
        for _ in 0..n {
            black_box(lua.create_table()?);
        }
        Ok(())
    });

    let state = host("create and drop a state", Goal::EQUAL, |n| {
        for _ in 0..n {
            black_box(Lua::new());
        }
        Ok(())
    });

    let lua = Lua::new();
    let load = host("load a small chunk", Goal::EQUAL, move |n| {
        for _ in 0..n {
            let chunk = lua.load("local a, b = ... if a < b then return a + b end return x");
            black_box(chunk.set_name("=chunk").into_function()?);
        }
        Ok(())
    });

    let lua = Lua::new();
    let eval = host("load and run an expression", Goal::EQUAL, move |n| {
        for _ in 0..n {
            black_box(lua.load("1 + 2 * 3").set_name("=chunk").eval::<i64>()?);
        }
        Ok(())
    });
    Ok(vec![short, same, long, table, state, load, eval])
}

/// Settings such as a host may keep in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Settings {
    name: String,
    scale: f64,
    size: (u32, u32),
    tags: Vec<String>,
    volume: Option<u8>,
}

fn serde() -> Result<Vec<Line>> {
    let lua = Lua::new();
    let settings = Settings {
        name: "window".to_owned(),
        scale: 1.5,
        size: (640, 480),
        tags: ["first", "second", "third"].map(str::to_owned).to_vec(),
        volume: Some(11),
    };
    let round_trip = host("serde round trip, 5 fields", Goal::EQUAL, move |n| {
        for _ in 0..n {
            let value = lua.to_value(black_box(&settings))?;
            black_box(lua.from_value::<Settings>(value)?);
        }
        Ok(())
    });
    Ok(vec![round_trip])
}

fn iteration() -> Result<Vec<Line>> {
    let list = "local t = {} for i = 1, 1000 do t[i] = i end return t";
    let map = "local t = {} for i = 1, 1000 do t['key' .. i] = i end return t";

    let lua = Lua::new();
    let t: Table = lua.load(map).eval()?;
    let pairs = host("pairs::<String, i64>, entry", Goal::EQUAL, move |n| {
        let _state = &lua;
        let mut sum = 0;
        for _ in 0..n.div_ceil(1000) {
            for pair in t.pairs::<String, i64>() {
                let (key, value) = pair?;
                sum += key.len() as i64 + value;
            }
        }
        black_box(sum);
        Ok(())
    });

    let lua = Lua::new();
    let t: Table = lua.load(list).eval()?;
    let pairs_list = host("pairs::<i64, i64>, entry", Goal::EQUAL, move |n| {
        let _state = &lua;
        let mut sum = 0;
        for _ in 0..n.div_ceil(1000) {
            for pair in t.pairs::<i64, i64>() {
                let (key, value) = pair?;
                sum += key + value;
            }
        }
        black_box(sum);
        Ok(())
    });

    let lua = Lua::new();
    let t: Table = lua.load(list).eval()?;
    let sequence = host("sequence_values::<i64>, element", Goal::EQUAL, move |n| {
        let _state = &lua;
        let mut sum = 0;
        for _ in 0..n.div_ceil(1000) {
            for value in t.sequence_values::<i64>() {
                sum += value?;
            }
        }
        black_box(sum);
        Ok(())
    });
    Ok(vec![pairs.of(1000), pairs_list.of(1000), sequence.of(1000)])
}
