//! Many states of one engine: on two threads at the same time, and one after another. The engine
//! frees the data that it holds for them.

use std::sync::{Arc, Barrier};
use std::thread;

use perilune::{Engine, Lua};

/// A program that creates symbols, shapes, classes, closures, coroutines and errors; `SALT` makes
/// some of the names unique.
const PROGRAM: &str = r#"
local out = {}
local function show(...) out[#out + 1] = table.concat({...}, ' ') end
local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:add(o) return Point.new(self.x + o.x, self.y + o.y) end
Point.__add = Point.add
Point.__tostring = function(p) return p.x .. ',' .. p.y end
local sum = Point.new(0, 0)
for i = 1, 300 do sum = sum + Point.new(i, i * 0.5) end
show(tostring(sum))
-- Field names made at run time, and dictionaries that were records.
local wide = {}
for i = 1, 200 do wide['field_' .. SALT .. '_' .. i] = i end
local n, total = 0, 0
for k, v in pairs(wide) do n = n + 1 total = total + v end
show(n, total)
for i = 1, 50 do
  local record = {}
  for j = 1, i % 7 do record['f' .. (i * j) % 11] = j end
  setmetatable(record, {__index = wide})
  total = total + record['field_' .. SALT .. '_' .. i]
end
show(total)
local co = coroutine.wrap(function(a)
  for i = 1, 20 do a = a + coroutine.yield(a * i) end
  error({code = 'end'})
end)
local last = co(1)
for i = 1, 19 do last = co(i) end
show(last, select(2, pcall(co, 0)).code)
show(select(2, pcall(function() return nowhere.x end)))
local parts = {}
for w in ('the quick brown fox'):gmatch('%a+') do parts[#parts + 1] = w:upper() end
table.sort(parts)
show(table.concat(parts, '-'))
show(load('local t = {} for i = 1, 10 do t["k" .. i] = i end return t.k7')())
local weak = setmetatable({}, {__mode = 'v'})
weak.gone = {inner = 'value'}
collectgarbage()
show(tostring(weak.gone))
return table.concat(out, '\n')
"#;

fn run(lua: &Lua, salt: &str) -> String {
    let source = format!("local SALT = '{salt}' {PROGRAM}");
    lua.load(source).set_name("=program").call::<String>(()).expect("the program runs")
}

#[test]
fn two_threads_run_the_same_program_at_once() {
    let engine = Engine::interpreter();
    // the names of the library remain
    drop(Lua::with_engine(&engine));
    let fresh = (engine.symbols(), engine.shapes());
    let expected = run(&Lua::with_engine(&perilune::Engine::interpreter()), "s");
    assert!(expected.starts_with("45150,22575.0\n200 20100\n"), "{expected}");
    let barrier = Arc::new(Barrier::new(2));
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let (engine, barrier, expected) = (engine.clone(), barrier.clone(), expected.clone());
            thread::spawn(move || {
                for round in 0..30 {
                    barrier.wait();
                    let lua = Lua::with_engine(&engine);
                    lua.set_gc_stress(round == 7 && number == 0);
                    lua.set_small_stack(round % 5 == number);
                    assert_eq!(run(&lua, "s"), expected, "round {round}");
                    if round % 3 == 0 {
                        // The states of a round die at different times.
                        assert_eq!(run(&lua, "s"), expected, "round {round}, again");
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    assert_eq!((engine.symbols(), engine.shapes()), fresh);
}

#[test]
fn an_engine_that_many_programs_passed_through_is_as_large_as_a_fresh_one() {
    let engine = Engine::interpreter();
    // the names of the library remain
    drop(Lua::with_engine(&engine));
    let fresh = (engine.symbols(), engine.shapes());
    let mut after_one = None;
    for round in 0..40 {
        let kept = Lua::with_engine(&engine);
        let first = run(&kept, &format!("r{round}"));
        let second = run(&Lua::with_engine(&engine), &format!("q{round}"));
        assert_eq!(first.lines().count(), second.lines().count());
        drop(kept);
        let now = (engine.symbols(), engine.shapes());
        assert_eq!(now, *after_one.get_or_insert(now), "round {round}");
    }
    assert_eq!(after_one, Some(fresh));
}

#[test]
fn dead_fields_leave_the_engine_while_the_state_lives() {
    let engine = Engine::interpreter();
    let lua = Lua::with_engine(&engine);
    lua.load("collectgarbage() collectgarbage()").exec().expect("it runs");
    let before = engine.symbols();
    let make = "for i = 1, 500 do local t = {} t['name_' .. i] = 1 t['other_' .. i] = 2 end";
    lua.load(make).exec().expect("it runs");
    lua.load("collectgarbage() collectgarbage()").exec().expect("it runs");
    let after = engine.symbols();
    assert!(after < before + 100, "{before} symbols before, {after} after");
}
