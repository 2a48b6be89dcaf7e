//! Allocations that fail: the n-th allocation of an operation, for every relevant n. The operation
//! ends with its result or with "not enough memory", and the state can be used afterwards.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perilune::alloc::Reserve;
use perilune::{
    AnyUserData, Engine, Function, JitOptions, Lua, LuaOptions, MultiValue, Program, Result,
    StdLib, Table, Thread, UserData, UserDataMethods, Value, Variadic,
};

#[global_allocator]
static ALLOCATOR: Reserve<Failing> = Reserve::new(Failing);

/// Which allocations of a thread fail.
#[derive(Clone, Copy)]
struct Plan {
    /// Allocations of fewer bytes are not counted, and do not fail.
    least: usize,
    /// The number of allocations so far.
    count: usize,
    /// The number of the first one that fails, from 1.
    first: usize,
    /// The number of allocations that fail.
    failures: usize,
}

impl Plan {
    const NONE: Plan = Plan { least: usize::MAX, count: 0, first: 0, failures: 0 };
}

thread_local! {
    static PLAN: Cell<Plan> =
        const { Cell::new(Plan::NONE) };
}

/// The system's allocator, which fails according to the plan of the thread.
struct Failing;

/// Counts an allocation of `size` bytes, and returns whether it fails.
fn fails(size: usize) -> bool {
    PLAN.with(|plan| {
        let mut p = plan.get();
        if size < p.least {
            return false;
        }
        p.count += 1;
        plan.set(p);
        p.count.checked_sub(p.first).is_some_and(|since| since < p.failures)
    })
}

// SAFETY: memory comes from the system's allocator, or the allocation fails. Nothing here unwinds.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) { null_mut() } else { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if fails(layout.size()) { null_mut() } else { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        System.dealloc(p, layout);
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let grows = size > layout.size();
        if grows && fails(size) { null_mut() } else { System.realloc(p, layout, size) }
    }
}

/// Runs `f` and lets `failures` of its allocations fail, starting with number `first`. Returns the
/// result, or the message of a panic, and the number of allocations.
fn with_failures<R>(
    first: usize,
    failures: usize,
    f: impl FnOnce() -> R,
) -> (std::result::Result<R, String>, usize) {
    with_plan(Plan { least: 1, count: 0, first, failures }, f)
}

fn with_plan<R>(plan: Plan, f: impl FnOnce() -> R) -> (std::result::Result<R, String>, usize) {
    PLAN.set(plan);
    let result = catch_unwind(AssertUnwindSafe(f));
    let count = PLAN.replace(Plan::NONE).count;
    let result = result.map_err(|panic| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"a panic").to_string(),
    });
    (result, count)
}

/// Returns numbers of allocations up to `count`: all of the first ones, and fewer and fewer of the
/// others. If `PERILUNE_ALLOCATION_ALL` is set, it returns all of them, or every n-th one.
fn numbers(count: usize, all_up_to: usize) -> impl Iterator<Item = usize> {
    let every = std::env::var("PERILUNE_ALLOCATION_ALL").ok();
    let every = every.map(|text| text.parse::<usize>().unwrap_or(1).max(1));
    let next = move |&n: &usize| {
        let fewer = if n < all_up_to { 1 } else { n / (all_up_to / 4 + 2) + 1 };
        Some(n + every.unwrap_or(fewer)).filter(|&n| n <= count)
    };
    std::iter::successors(Some(1).filter(|&n| n <= count), next)
}

/// The number of allocations that fail: one, some, or all until the operation ends.
const FAILURES: [usize; 3] = [1, 8, usize::MAX];

/// Makes tests run one after the other, so that their allocations are the same each time: the
/// process has one reserve, and each use of it makes all states collect.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn is_shortage(message: &str) -> bool {
    message.contains("not enough memory")
}

/// A program that uses most parts of a state, and its result.
const CHECK: &str = "
    local t, parts = {}, {}
    for i = 1, 200 do t[i] = {n = i, ['k' .. i] = i} end
    for i, v in ipairs(t) do parts[#parts + 1] = v['k' .. i] + v.n end
    local co = coroutine.wrap(function(...)
        local s = select('#', ...)
        while true do s = s + coroutine.yield(s) end
    end)
    co(1, 2, 3)
    local ok, message = pcall(error, {code = 7})
    collectgarbage()
    local f = assert(load('local a = ... return function(b) a = a + b return a end'))(40)
    f(1)
    return table.concat(parts, ' ', 198) .. ' ' .. co(5) .. ' ' .. message.code .. ' ' .. f(1)
        .. ' ' .. ('x'):rep(50):gsub('x', 'yz'):len()";
const CHECKED: &str = "396 398 400 8 7 42 100";

/// A kind of operation, on states of one engine.
struct Bench {
    engine: Engine,
    /// [`CHECK`], compiled once for all states.
    check: Program,
    /// Allocations up to this one fail one by one, later ones in growing steps.
    all_up_to: usize,
}

impl Bench {
    fn new(engine: Engine, all_up_to: usize) -> Bench {
        let check = engine.compile(CHECK, "=check").expect("it compiles");
        Bench { engine, check, all_up_to }
    }

    /// Asserts that a state works like one that was never short of memory.
    fn check(&self, lua: &Lua, case: &dyn Fn() -> String) {
        match lua.load_program(&self.check).call::<String>(()) {
            Ok(result) => assert_eq!(result, CHECKED, "after {}", case()),
            Err(e) => panic!("after {}: {e}", case()),
        }
        lua.gc_collect().unwrap_or_else(|e| panic!("after {}: {e}", case()));
    }

    /// Performs `operation` on new states, with each failure. The state and the result of `prepare`
    /// exist before anything fails.
    fn fail_everywhere<P>(
        &self,
        name: &str,
        prepare: impl Fn(&Lua) -> Result<P>,
        operation: impl Fn(&Lua, &mut P) -> Result<String>,
    ) {
        self.fail_from(1, name, prepare, operation);
    }

    /// Like [`Bench::fail_everywhere`], but only allocations of at least `least` bytes fail.
    fn fail_from<P>(
        &self,
        least: usize,
        name: &str,
        prepare: impl Fn(&Lua) -> Result<P>,
        operation: impl Fn(&Lua, &mut P) -> Result<String>,
    ) {
        let trace = std::env::var_os("PERILUNE_ALLOCATION_TRACE").is_some();
        let run = |first, failures| {
            let lua = Lua::with_engine(&self.engine);
            let mut prepared = prepare(&lua).expect("there is memory");
            let plan = Plan { least, count: 0, first, failures };
            let result = with_plan(plan, || operation(&lua, &mut prepared));
            (lua, result)
        };
        // The first round fills the caches of the engine.
        let mut expected = (String::new(), 0);
        for _ in 0..2 {
            let (lua, (result, count)) = run(usize::MAX, 0);
            let result = result.and_then(|r| r.map_err(|e| e.to_string()));
            expected = (result.unwrap_or_else(|e| panic!("{name}: {e}")), count);
            self.check(&lua, &|| name.to_owned());
        }
        let (expected, count) = expected;
        let mut errors = 0;
        for failures in FAILURES {
            for n in numbers(count, self.all_up_to) {
                let case = || format!("{name}: {failures} failures from allocation {n} of {count}");
                if trace {
                    eprintln!("{}", case());
                }
                let (lua, (result, _)) = run(n, failures);
                match result {
                    Ok(Ok(result)) if result == expected => {}
                    Ok(Ok(message)) if is_shortage(&message) => errors += 1,
                    Ok(Err(e)) if is_shortage(&e.to_string()) => errors += 1,
                    Ok(Ok(result)) => panic!("{}\n{result}\ninstead of\n{expected}", case()),
                    Ok(Err(e)) => panic!("{}: {e}", case()),
                    Err(panic) => panic!("{}: panic: {panic}", case()),
                }
                self.check(&lua, &case);
            }
        }
        assert!(errors > 0, "{name}: {count} allocations, no failure of which was noticed");
    }
}

/// Programs that need memory in different ways.
const PROGRAMS: &[(&str, &str)] = &[
    ("array", "local t = {} for i = 1, 20000 do t[i] = i end return #t .. ' ' .. t[20000]"),
    (
        "array of tables",
        "local t, s = {}, 0 for i = 1, 5000 do t[#t + 1] = {i} end
         for _, v in ipairs(t) do s = s + v[1] end return s",
    ),
    (
        "hash",
        "local t, s = {}, 0 for i = 1, 3000 do t[i + 0.5] = i t[i * 7919] = i end
         for _, v in pairs(t) do s = s + v end return s",
    ),
    (
        "keys out of order",
        "local r, w, s = {}, {}, 0
         for i = 6000, 1, -1 do r[i] = i end
         for i = 1, 12000, 3 do w[i] = {i} end
         for i = 1, 4000 do w[i] = nil w[i + 12000] = i end
         for i = 1, 6000 do s = s + r[i] end
         for k, v in pairs(w) do s = s + k + (type(v) == 'table' and v[1] or v) end
         return s",
    ),
    (
        "metamethods",
        "local new, s = {}, 0
         local C = {}
         function C.__newindex(t, k, v) new[#new + 1] = {t, k, v} end
         function C.__index(t, k) return {k} end
         function C.__add(a, b) return setmetatable({}, C) end
         function C.__lt(a, b) return new[1] == nil or {} end
         function C.__concat(a, b) return {a, b} end
         function C.__eq(a, b) return {a, b} end
         for i = 1, 900 do
             local a, b = setmetatable({}, C), setmetatable({}, C)
             a[i] = b
             s = s + (a + b).x[1]:len() + #(a .. b) + (a < b and 1 or 0) + (a == b and 1 or 0)
         end
         return s + #new",
    ),
    (
        "keys",
        "local t, s = {}, 0 for i = 1, 3000 do t['key ' .. i] = i end
         for k, v in pairs(t) do s = s + v + #k end return s",
    ),
    (
        "records",
        "local t = {} for i = 1, 2000 do t[i] = {a = i, b = {c = i, d = 'x'}, e = 1, f = 2} end
         local s = 0 for i = 1, #t do s = s + t[i].b.c + t[i].e end return s",
    ),
    (
        "strings",
        "local t = {} for i = 1, 5000 do t[i] = 'string number ' .. i end
         local n = 0 for i = 1, #t do n = n + #t[i] end return n",
    ),
    (
        "long strings",
        "local s = 'x' for i = 1, 20 do s = s .. s end
         local t = {} for i = 1, 20 do t[i] = s .. i end return #s + #t[20]",
    ),
    (
        "library of strings",
        "local s = ('abc '):rep(30000)
         local a = s:gsub('b', 'BB') local b = s:gsub('%w+', function(w) return w:upper() end)
         local c = ('%s|%10.3f|%q'):format(s, 1.5, 'a\\nb')
         local d = s:upper():reverse():sub(1, 70000)
         local e = {} for w in s:sub(1, 4000):gmatch('%w+') do e[#e + 1] = w end
         return #a + #b + #c + #d + #table.concat(e, '--') + #string.pack('s4z', s, 'end')",
    ),
    (
        "library of tables",
        "local t = {} for i = 1, 10000 do t[i] = (i * 7919) % 10007 end
         table.sort(t) table.sort(t, function(a, b) return a > b end)
         local u = table.move(t, 1, #t, 1, {}) table.insert(u, 1, 0) table.remove(u)
         local p = table.pack(table.unpack(t, 1, 200))
         return #table.concat(u, ',') + p.n + #utf8.char(table.unpack(t, 9000, 9100))",
    ),
    (
        "closures",
        "local t = {} for i = 1, 4000 do local n = i t[i] = function() n = n + 1 return n end end
         local s = 0 for i = 1, #t do s = s + t[i]() + t[i]() end return s",
    ),
    (
        "coroutines",
        "local t = {} for i = 1, 150 do
             t[i] = coroutine.wrap(function(a) while true do a = coroutine.yield(a + i) end end)
         end
         local s = 0 for k = 1, 3 do for i = 1, #t do s = s + t[i](k) end end return s",
    ),
    (
        "recursion",
        "local function f(n, ...) if n == 0 then return select('#', ...) end
             return 1 + f(n - 1, n, ...) end
         local function g(n) return n == 0 and 0 or 1 + g(n - 1) end
         return f(200) + g(50000)",
    ),
    (
        "load",
        "local parts = {}
         for i = 1, 300 do
             parts[i] = ('local function f%d(a, b) local t = {a = a, [%d] = b, \"s%d\"}'
             .. ' return function() return t.a + %d.5 end end x%d = f%d(1, 2)')
             :format(i % 100, i, i, i, i, i % 100) end
         parts = {'do ' .. table.concat(parts, ' end\\ndo ') .. ' end return x7()'}
         local f = assert(load(parts[1]))
         local g = assert(load(string.dump(f)))
         return f() + g() .. tostring(load('x = = 1'))",
    ),
    (
        "error with a traceback",
        "local function f(n) if n == 0 then error('the message') end f(n - 1) return n end
         local ok, s = xpcall(f, debug.traceback, 50)
         return s .. select(2, pcall(f, 3)) .. debug.traceback('x')",
    ),
    (
        "protected calls",
        "local function f(n)
             local t = setmetatable({}, {__close = function() end}) local c <close> = t
             if n == 0 then for i = 1, 2000 do t[i] = {i} end return #t end
             local ok, r = pcall(f, n - 1)
             if not ok then error(r, 0) end
             return r + n
         end
         return f(60)",
    ),
    (
        "errors that are caught",
        "local n = 0
         for i = 1, 300 do
             local ok, e = pcall(function() local t = {i} error(t) end)
             if type(e) ~= 'table' then error(e, 0) end
             n = n + e[1]
         end
         return n",
    ),
    (
        "metatables",
        "local V = {} V.__index = V
         V.__add = function(a, b) return setmetatable({x = a.x + b.x}, V) end
         V.__concat = function(a, b) return tostring(a) .. tostring(b) end
         V.__tostring = function(a) return 'V' .. a.x end
         V.__newindex = function(t, k, v) rawset(t, k, {v}) end
         V.__gc = function() end
         local v = setmetatable({x = 0}, V)
         for i = 1, 2000 do v = v + setmetatable({x = i}, V) v['k' .. i % 50] = i end
         return v .. v",
    ),
    (
        "tables that loops need not allocate",
        "local V = {} V.__index = V
         local function new(x, y) return setmetatable({x = x, y = y}, V) end
         V.__add = function(a, b) return new(a.x + b.x, a.y + b.y) end
         local kept, k = {}, 1
         for i = 1, 200 do
             local v = new(0, i)
             for j = 1, 40 do
                 v = v + new(j, k)
                 if i % 50 == 0 and j == 20 then k = k + 0.5 end
             end
             kept[i] = v
         end
         local s = 0 for i = 1, #kept do s = s + kept[i].x + kept[i].y end
         return s .. tostring(getmetatable(kept[200]) == V)",
    ),
    (
        "weak tables and finalizers",
        "local weak, eph, n = setmetatable({}, {__mode = 'v'}), setmetatable({}, {__mode = 'k'}), 0
         for i = 1, 2000 do
             local t = setmetatable({}, {__gc = function() n = n + 1 end})
             weak[i] = t eph[t] = {t}
         end
         collectgarbage() collectgarbage()
         return n .. tostring(next(weak)) .. tostring(next(eph))",
    ),
    (
        "collections",
        "local keep = {}
         for i = 1, 30 do
             for j = 1, 100 do keep[j] = {i, {}, 'k' .. j} end
             if i % 3 == 0 then collectgarbage() else collectgarbage('step', 10) end
             if i == 10 then collectgarbage('generational') end
             if i == 20 then collectgarbage('incremental') end
         end
         return #keep + keep[100][1]",
    ),
    (
        "globals and environments",
        "for i = 1, 1000 do _G['g' .. i] = i end
         local env = setmetatable({}, {__index = _G})
         local f = assert(load('for i = 1, 500 do _ENV[\"e\" .. i] = i end return e500 + g1000',
             'c', 't', env))
         return f()",
    ),
];

fn jit() -> Engine {
    let options = JitOptions { threshold: 1, loop_threshold: 1, sync: true, ..Default::default() };
    Engine::with_jit(options)
}

fn run_programs<'a>(bench: &Bench, programs: impl Iterator<Item = (&'a str, &'a str)>) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let only = std::env::var("PERILUNE_ALLOCATION_PROGRAM").unwrap_or_default();
    for (name, source) in programs.filter(|(name, _)| name.contains(&only)) {
        // One program for all states, so that it is compiled once.
        let program = bench.engine.compile(source, "=program").expect("it compiles");
        bench.fail_everywhere(name, |_| Ok(()), |lua, ()| lua.load_program(&program).call(()));
    }
}

#[test]
fn programs_in_the_interpreter() {
    run_programs(&Bench::new(Engine::interpreter(), 24), PROGRAMS.iter().copied());
}

#[test]
fn programs_in_machine_code() {
    // In a process that other tests have made large, compiles do not use separate mappings, and may
    // need more memory than the reserve has.
    const NAME: &str = "programs_in_machine_code";
    const CHILD: &str = "PERILUNE_ALLOCATION_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let child = std::env::current_exe().expect("a test has a file");
        let mut child = std::process::Command::new(child);
        let child = child.args(["--exact", NAME, "--nocapture"]).env(CHILD, "1");
        let output = child.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert!(output.status.success() && ran, "{}: {said}", output.status);
        return;
    }
    let engine = jit();
    let (load, others): (Vec<_>, Vec<_>) = PROGRAMS.iter().partition(|(name, _)| *name == "load");
    run_programs(&Bench::new(engine.clone(), 8), others.into_iter());
    // A chunk that a program loads is compiled each time, so it has fewer lines.
    let less: Vec<_> = load.iter().map(|(_, source)| source.replace("300", "40")).collect();
    run_programs(&Bench::new(engine, 0), less.iter().map(|source| ("load", &**source)));
}

/// A type with methods.
struct Counter(i64);

impl UserData for Counter {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("add", |_, this, n: i64| {
            this.0 += n;
            Ok(this.0)
        });
        methods.add_method("text", |lua, this, ()| lua.create_string("x".repeat(this.0 as usize)));
        methods.add_meta_method("__len", |_, this, ()| Ok(this.0));
    }
}

fn api() -> (MutexGuard<'static, ()>, Bench) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    (guard, Bench::new(Engine::interpreter(), 100))
}

fn none(_: &Lua) -> Result<()> {
    Ok(())
}

#[test]
fn states() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new(Engine::interpreter(), 100);
    let safe = || Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new());
    let of_engine = || Lua::with_engine_and(&bench.engine, StdLib::ALL, LuaOptions::new());
    let bare = || Ok(Lua::without_libraries(&bench.engine));
    // These panic, as their documentation says.
    let new = || Ok(Lua::new());
    let with_engine = || Ok(Lua::with_engine(&bench.engine));
    type Make<'a> = &'a dyn Fn() -> Result<Lua>;
    let makers: [(&str, bool, Make<'_>); 5] = [
        ("new_with", false, &safe),
        ("with_engine_and", false, &of_engine),
        ("without_libraries", false, &bare),
        ("new", true, &new),
        ("with_engine", true, &with_engine),
    ];
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = info.payload_as_str().unwrap_or_default();
        if !text.contains("the standard library does not open") {
            hook(info);
        }
    }));
    for (name, panics, make) in makers {
        make().expect("there is memory");
        let (_, count) = with_failures(usize::MAX, 0, make);
        for failures in FAILURES {
            for n in numbers(count, 100) {
                let case = || format!("{name}: {failures} failures from allocation {n} of {count}");
                match with_failures(n, failures, make).0 {
                    Ok(Ok(lua)) => {
                        lua.open_libraries();
                        let result: String = lua.load(CHECK).eval().expect("there is memory");
                        assert_eq!(result, CHECKED, "{}", case());
                    }
                    Ok(Err(e)) => assert!(is_shortage(&e.to_string()), "{}: {e}", case()),
                    Err(text) => {
                        let documented = panics && text.contains("standard library does not open");
                        assert!(documented, "{}: panic: {text}", case());
                    }
                }
            }
        }
        bench.check(&Lua::with_engine(&bench.engine), &|| name.to_owned());
    }
}

#[test]
fn strings_and_tables() {
    let (_one, bench) = api();
    bench.fail_everywhere("strings", none, |lua, ()| {
        let mut length = 0;
        for i in 0..300 {
            length += lua.create_string(format!("string number {i}"))?.as_bytes().len();
        }
        for i in 1..20 {
            length += lua.create_string(vec![b'x'; i * 20_000])?.as_bytes().len();
        }
        Ok(length.to_string())
    });
    bench.fail_everywhere("tables", none, |lua, ()| {
        let t = lua.create_table()?;
        for i in 0..3000 {
            t.push(i)?;
            t.set(format!("key {i}"), i)?;
            t.raw_set(i as f64 + 0.5, lua.create_table()?)?;
        }
        let mut sum = 0;
        for pair in t.pairs::<Value, Value>() {
            sum += pair?.1.as_integer().unwrap_or(1);
        }
        let list: Vec<i64> = t.sequence_values().collect::<Result<_>>()?;
        let copy = lua.create_sequence_from(list)?;
        let fields = lua.create_table_from((0..500).map(|i| (format!("f{i}"), i)))?;
        Ok(format!(
            "{sum} {} {} {}",
            copy.len()?,
            fields.get::<i64>("f77")?,
            t.get::<i64>("key 9")?
        ))
    });
}

#[test]
fn functions_and_userdata() {
    let (_one, bench) = api();
    bench.fail_everywhere("functions", none, |lua, ()| {
        let mut sum = 0;
        for i in 0..300 {
            let f = lua.create_function(move |lua, args: Variadic<i64>| {
                let t = lua.create_sequence_from(args.iter().copied())?;
                Ok((t.len()? + i, format!("text of {i}")))
            })?;
            let (n, text): (i64, String) = f.call((1, 2, 3))?;
            sum += n + text.len() as i64;
        }
        let f: Function = lua.load("return function(f, ...) return f(...), ... end").eval()?;
        let fails = lua.create_function(|_, ()| Err::<(), _>(perilune::Error::external("mine")))?;
        let caught: MultiValue = lua.load("return pcall(...)").call(&fails)?;
        let results: MultiValue = f.call((lua.create_function(|_, n: i64| Ok(n))?, 5, "x"))?;
        let bound = f.bind(lua.create_function(|_, s: String| Ok(s.len()))?)?;
        let length: usize = bound.call("y".repeat(100_000))?;
        Ok(format!("{sum} {} {} {length}", caught[1].to_string()?, results.len()))
    });
    bench.fail_everywhere("userdata", none, |lua, ()| {
        lua.globals().set("c", lua.create_userdata(Counter(0))?)?;
        let mut all = Vec::new();
        for i in 0..300 {
            all.push(lua.create_userdata(Counter(i))?);
        }
        lua.globals().set("d", all.pop())?;
        let code = "for i = 1, 200 do c:add(i) end return #c .. #c:text() .. d:add(1)";
        let s: String = lua.load(code).eval()?;
        let c: AnyUserData = lua.globals().get("c")?;
        let n = c.borrow::<Counter>()?.0;
        Ok(format!("{s} {n} {}", all[200].borrow::<Counter>()?.0))
    });
    bench.fail_everywhere("threads", none, |lua, ()| {
        let f: Function = lua
            .load("return function(a) for i = 1, 3 do a = coroutine.yield(a + i) end return a end")
            .eval()?;
        let threads: Vec<Thread> =
            (0..100).map(|_| lua.create_thread(f.clone())).collect::<Result<_>>()?;
        let mut sum = 0;
        for _ in 0..3 {
            for (i, thread) in threads.iter().enumerate() {
                sum += thread.resume::<i64>(i)?;
            }
        }
        Ok(sum.to_string())
    });
}

#[test]
fn chunks_scopes_and_registry() {
    let (_one, bench) = api();
    bench.fail_everywhere("chunks", none, |lua, ()| {
        let mut sum = 0;
        for i in 0..20 {
            let code = format!("local t = {{a = {i}, 'x', {i}.5}} return t.a + #t").repeat(1);
            sum += lua.load(code).set_name("a chunk").eval::<i64>()?;
        }
        lua.load("x = 1").exec()?;
        let dumped = lua.load("return x + 1").into_function()?.dump(false);
        Ok(format!("{sum} {}", lua.load(dumped).call::<i64>(())?))
    });
    bench.fail_everywhere("scopes", none, |lua, ()| {
        let mut calls = 0;
        lua.scope(|scope| {
            let f = scope.create_function_mut(|_, n: i64| {
                calls += n;
                Ok(())
            })?;
            lua.load("local f = ... for i = 1, 100 do f(i) end").call::<()>(f)
        })?;
        Ok(calls.to_string())
    });
    bench.fail_everywhere("registry", none, |lua, ()| {
        let mut keys = Vec::new();
        for i in 0..300 {
            keys.push(lua.create_registry_value(lua.create_sequence_from([i])?)?);
            lua.set_named_registry_value(&format!("name {i}"), i)?;
        }
        let mut sum = 0;
        for (i, key) in keys.iter().enumerate() {
            sum += lua.registry_value::<Table>(key)?.get::<i64>(1)?;
            sum += lua.named_registry_value::<i64>(&format!("name {i}"))?;
        }
        for key in keys {
            lua.remove_registry_value(key)?;
        }
        Ok(sum.to_string())
    });
}

/// The slots of more handles than fit into the reserve. Smaller allocations succeed.
#[test]
fn handles() {
    const COUNT: usize = 200_000;
    let (_one, bench) = api();
    let lua = Lua::with_engine(&bench.engine);
    let mut handles = Vec::with_capacity(COUNT);
    for _ in 0..COUNT / 2 {
        handles.push(lua.create_table().expect("there is memory"));
    }
    let plan = Plan { least: 2 << 20, count: 0, first: 1, failures: usize::MAX };
    let (result, _) = with_plan(plan, || {
        while handles.len() < COUNT {
            handles.push(lua.create_table()?);
        }
        Ok::<_, perilune::Error>(())
    });
    let error = result.expect("no panic").expect_err("there is no memory");
    assert!(is_shortage(&error.to_string()), "{error}");
    handles.clear();
    bench.check(&lua, &|| "handles".to_owned());
}

#[cfg(feature = "serde")]
#[test]
fn serde() {
    use perilune::LuaSerdeExt;
    use std::collections::BTreeMap;

    type Data = BTreeMap<String, Vec<(i64, String)>>;
    let (_one, bench) = api();
    let data = |_: &Lua| -> Result<Data> {
        Ok((0..50).map(|i| (format!("key {i}"), vec![(i, "text".repeat(20)); 20])).collect())
    };
    bench.fail_everywhere("serde", data, |lua, data| {
        let value = lua.to_value(data)?;
        lua.globals().set("data", &value)?;
        let back: Data = lua.from_value(value)?;
        Ok((back == *data).to_string())
    });
}

/// A list whose length serializers do not know at first.
#[cfg(feature = "serde")]
struct Unsized(i64);

#[cfg(feature = "serde")]
impl serde::Serialize for Unsized {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_seq((1..=self.0).filter(|i| *i > 0))
    }
}

/// Allocations that are too large for the reserve. Most operations first try whether the memory is
/// available; an allocation that fails after a successful trial stands for another thread that has
/// taken the memory in between.
#[test]
fn large_allocations() {
    const PROGRAMS: &[(&str, &str)] = &[
        ("array", "local t = {} for i = 1, 300000 do t[i] = i end return #t"),
        ("mixed array", "local t = {} for i = 1, 200000 do t[i] = i end t[7] = 'x' return t[7]"),
        (
            "appended string",
            "local t = {} for i = 1, 262144 do t[i] = i end t[#t + 1] = 'x' return #t",
        ),
        ("cleared array", "local t = {} for i = 1, 200000 do t[i] = i end t[7] = nil return #t"),
        ("hash", "local t = {} for i = 1, 70000 do t[i + 0.5] = i end return t[99.5]"),
        (
            "array from hash",
            "local t = {} for i = 200000, 2, -1 do t[i] = i end t[1] = 'x' return #t .. t[1]",
        ),
        (
            "dictionary",
            "local t = {a = 1} for i = 1, 70000 do t[i + 0.5] = i end
             t['b' .. #t] = 2 return t.b0 + t.a",
        ),
        (
            "environment with fields",
            "local t = {a = 1, rawset = rawset} for i = 1, 70000 do t[i + 0.5] = i end
             return load('rawset(_ENV, 1, a) b = a + #_ENV return b + a', '=c', 't', t)()",
        ),
        (
            "environment with many names",
            "local t = {} for i = 1, 70000 do t['k' .. i] = i end
             return load('k1 = k2 + k3 return k1 + k70000', '=c', 't', t)()",
        ),
        (
            "metatable of a table whose shape cannot have another successor",
            "local t, others = {a = 1}, {}
             for i = 1, 70000 do t[i + 0.5] = i end
             for i = 1, 1000 do others[i] = load('return {a = 1, f' .. i .. ' = 1}')() end
             setmetatable(t, {__index = {b = 2}}) return t.a + t.b + t[99.5]",
        ),
        (
            "strings",
            "local s = ('x'):rep(2500000) local t = s .. s
             return #t + #s:upper() + #table.concat({s, s}) + #s:gsub('y', 'z')",
        ),
    ];
    const LEAST: usize = 2 << 20;
    let (_one, bench) = api();
    let engines = [bench.engine.clone(), jit()];
    for engine in engines {
        let bench = Bench::new(engine, usize::MAX);
        let run_from = |least, name: &str, source: &str| {
            let program = bench.engine.compile(source, "=program").expect("it compiles");
            let run = |lua: &Lua, (): &mut ()| lua.load_program(&program).call(());
            bench.fail_from(least, name, none, run);
        };
        let run = |name: &str, source: &str| run_from(LEAST, name, source);
        for (name, source) in PROGRAMS {
            run(name, source);
        }
        // the lists of objects with finalizers, in segments
        let source = "local t, m = {}, {__gc = function() end}
             for i = 1, 6000 do t[i] = setmetatable({}, m) end
             t = {} collectgarbage() return #t";
        run_from(32 << 10, "finalizers", source);
        let fields = "t.a = 1 ".repeat(60_000);
        run("chunk", &format!("local t = {{}} if not t then {fields} end return 1"));
        let source = format!("local t = {{}} local function f() {fields} end return type(f)");
        run("function", &source);
    }
    let counters = |_: &Lua| Ok(Vec::with_capacity(100_000));
    bench.fail_from(LEAST, "dead userdata", counters, |lua, counters| {
        for i in 0..counters.capacity() {
            counters.push(lua.create_userdata(Counter(i as i64))?);
        }
        counters.clear();
        lua.gc_collect()?;
        lua.gc_collect()?;
        Ok("done".to_owned())
    });
    // The array cannot grow for the last element.
    const COUNT: i64 = (1 << 18) + 1;
    type Fill = fn(&Lua) -> Result<Table>;
    let lists: [(&str, Fill); 3] = [
        ("pushed elements", |lua| {
            let t = lua.create_table()?;
            (1..=COUNT).try_for_each(|i| t.raw_push(i)).map(|()| t)
        }),
        ("inserted elements", |lua| {
            let t = lua.create_table()?;
            (1..=COUNT).try_for_each(|i| t.raw_insert(i, i)).map(|()| t)
        }),
        ("elements of an iterator", |lua| lua.create_sequence_from((1..=COUNT).filter(|i| *i > 0))),
    ];
    for (name, fill) in lists {
        bench.fail_from(LEAST, name, none, |lua, ()| Ok(fill(lua)?.raw_len().to_string()));
    }
    #[cfg(feature = "serde")]
    bench.fail_from(LEAST, "serialized elements", none, |lua, ()| {
        let t = perilune::LuaSerdeExt::to_value(lua, &Unsized(COUNT))?;
        Ok(t.as_table().expect("a list").raw_len().to_string())
    });
    let text = |_: &Lua| -> Result<_> { Ok("x".repeat(LEAST)) };
    bench.fail_from(LEAST, "a string of the host", text, |lua, text| {
        Ok(lua.create_string(&*text)?.as_bytes().len().to_string())
    });
}

/// The capacity of a list whose length is not known at first grows in proportion to it.
#[test]
fn long_lists_are_copied_rarely() {
    let (_one, bench) = api();
    let lua = Lua::with_engine(&bench.engine);
    let plan = Plan { least: 1 << 16, count: 0, first: usize::MAX, failures: 0 };
    let values = || (0..200_000).map(|i| if i % 2 > 0 { Value::Integer(i) } else { Value::NULL });
    let (list, count) = with_plan(plan, || lua.create_sequence_from(values()));
    let list = list.expect("no panic").expect("there is memory");
    assert!(list.sequence_values::<Value>().map(|v| v.expect("a value")).eq(values()));
    assert!(count < 50, "{count} large allocations");
}

/// More strings are created between two safepoints than fit into the table of strings, which cannot
/// grow.
#[test]
fn constants_that_fill_the_string_table() {
    const COUNT: usize = 20_000;
    let (_one, bench) = api();
    let strings: Vec<String> = (0..COUNT).map(|i| format!("'constant {i}'")).collect();
    let table = format!("{{{}}}", strings.join(","));
    let main = bench.engine.compile(format!("return #{table}"), "=main").expect("it compiles");
    let code = format!("return function() return function() return {table} end end");
    let inner = bench.engine.compile(&code, "=inner").expect("it compiles");
    let plan = Plan { least: 1 << 16, count: 0, first: 1, failures: usize::MAX };

    let lua = Lua::with_engine(&bench.engine);
    let (result, _) = with_plan(plan, || lua.load_program(&main).into_function().map(drop));
    let error = result.expect("no panic").expect_err("there is no memory");
    assert!(is_shortage(&error.to_string()), "{error}");
    bench.check(&lua, &|| "main".to_owned());

    let make: Function = lua.load_program(&inner).call(()).expect("there is memory");
    let (result, _) = with_plan(plan, || make.call::<Function>(()).map(drop));
    let error = result.expect("no panic").expect_err("there is no memory");
    assert!(is_shortage(&error.to_string()), "{error}");
    // The strings that were created then are not used.
    let list: Function = make.call(()).expect("there is memory");
    let list: Vec<String> = list.call(()).expect("there is memory");
    for (i, text) in list.iter().enumerate() {
        assert_eq!(*text, format!("constant {i}"));
    }
    assert_eq!(list.len(), COUNT);
    bench.check(&lua, &|| "inner".to_owned());
}
