//! A panic of a native function unwinds past all Lua code, machine code included, and leaves a
//! usable state.

mod modes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use modes::MODES;
use perilune::Lua;
use perilune::native::{Cx, NativeResult, Ret};

fn boom(cx: &mut Cx) -> NativeResult {
    let _ = cx;
    panic!("boom")
}

fn once(_: &mut Cx) -> NativeResult {
    Ok(Ret(0))
}

/// Ways to call `boom`, in a function that was often called with `once` before.
const WAYS: &[&str] = &[
    "f()",
    "return f()",
    "local function g() f() return 1 end g() g()",
    "local function g(...) return f(...) end return (g(1, 2))",
    "for i = 1, 5 do f() end",
    "pcall(f)",
    "pcall(function() f() end)",
    "xpcall(function() f() end, print)",
    "table.sort({3, 2, 1}, function(a, b) f() return a < b end)",
    "('xyz'):gsub('.', function() f() end)",
    "local co = coroutine.wrap(function() coroutine.yield() f() end) co() co()",
    "local co = coroutine.create(function() local v <close> = setmetatable({}, {__close = type}) \
     f() end) kept = co coroutine.resume(co)",
    "local up = 1 kept = function() up = up + 1 return up end local v <close> = setmetatable({}, \
     {__close = function() kept() end}) f()",
    "local t = setmetatable({}, {__index = function() f() end, __add = function() f() end}) local \
     x = t.x x = t + 1",
    "local t = setmetatable({}, {__lt = function() f() end, __concat = function() f() end}) local \
     x = t < t x = t .. 'x'",
    "for k in function(_, c) f() if not c then return 1 end end do end",
    "do local v <close> = setmetatable({}, {__close = function() f() end}) end",
    "local function deep(n) if n == 0 then f() else deep(n - 1) end return n end deep(100)",
    "debug.sethook(function() debug.sethook() f() end, 'l') local x = 1\n x = 2\n debug.sethook()",
    "load('f()')()",
];

fn run(lua: &Lua, way: &str) -> bool {
    let run = || lua.load(way).exec().expect(way);
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn panics_pass_and_the_state_stays_usable() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.to_string().contains("boom") {
            usual(info);
        }
    }));
    for mode in MODES {
        for way in WAYS {
            let lua = mode.state();
            let set = |f: fn(&mut Cx) -> NativeResult| {
                // SAFETY: there is one state, and the function asks nothing of its caller.
                unsafe { lua.with(|cx| cx.globals().set_name(cx, "f", cx.func(f, &[]).val())) };
            };
            let define = format!("function way() {way} end");
            lua.load(define).exec().expect(way);
            set(once);
            for _ in 0..20 {
                assert!(!run(&lua, "way() way()"), "{mode:?}: {way}");
            }
            for _ in 0..3 {
                set(boom);
                assert!(run(&lua, "way()"), "{mode:?}: {way} does not panic");
                set(once);
                assert!(!run(&lua, "way()"), "{mode:?}: {way}");
            }
            let check = "
                collectgarbage()
                local depth = 0
                local function deep() depth = depth + 1 if depth == 300 then error('stack \
                overflow') end deep() end
                local ok, m = pcall(deep)
                local sum = 0
                for i = 1, 2000 do sum = sum + i end
                local co = coroutine.wrap(function(a) for i = 1, 3 do a = a + coroutine.yield(a) \
                end return 'end' end)
                assert(coroutine.isyieldable() == false)
                if type(kept) == 'thread' then assert(coroutine.status(kept) == 'dead') end
                if type(kept) == 'function' then assert(type(kept()) == 'number') end
                return tostring(ok) .. (m:match('stack overflow') or m) .. sum .. co(1) .. co(2) \
                .. co(3) .. co(4)";
            let shown = lua.load(check).call::<String>(()).expect(way);
            assert_eq!(shown, "falsestack overflow2001000136end", "{mode:?}: {way}");
        }
    }
}

#[test]
fn panics_are_told_to_code_that_catches_them_in_between() {
    fn catches(cx: &mut Cx) -> NativeResult {
        let f = cx.get(0);
        cx.push_callee(f);
        let caught = catch_unwind(AssertUnwindSafe(|| cx.call_protected(0).is_ok())).is_err();
        cx.set_top(0);
        cx.push(perilune::native::Val::bool(caught));
        Ok(Ret(1))
    }
    for mode in MODES {
        let lua = mode.state();
        // SAFETY: there is one state, and the function asks nothing of its caller.
        unsafe {
            lua.with(|cx| {
                cx.globals().set_name(cx, "boom", cx.func(boom, &[]).val());
                cx.globals().set_name(cx, "catches", cx.func(catches, &[]).val());
            })
        };
        let program = "
            local n = 0
            local function inner(i) if i % 3 == 0 then boom() end return i end
            for i = 1, 60 do
                local up = i
                local get = function() return up end
                if catches(function() up = up + 1 inner(i) end) then n = n + get() end
            end
            return n";
        assert_eq!(lua.load(program).call::<String>(()).expect("it runs"), "650", "{mode:?}");
    }
}

/// Programs whose machine code calls functions of the runtime that return no status.
#[cfg(debug_assertions)]
const LEAVES: &[&str] = &[
    "local t = {} for i = 1, 20 do t[i] = {i, i + 1, i .. ''} end return #t",
    "local s = {} for i = 1, 20 do s[#s + 1] = ('abc'):byte(i % 3 + 1) end return s[3]",
    "local t = {} for i = 1, 20 do t['k' .. i % 4] = i t[i * 0.5] = i t[-i] = t[i] end return t.k1",
    "local n = 0 for k, v in pairs({1, 2, 3, x = 4}) do n = n + v end return n",
    "local n = 0 for i = 1, 20 do local f = function() n = n + i return n end f() end return n",
    "local function f(...) return select('#', ...), ... end return (f(1, 2, 3))",
    "local function f(s) return s:byte(2) end local n = 0 for i = 1, 20 do n = n + f('abc') end \
     return n",
    "local o = setmetatable({}, {__index = function(t, k) return k end, __add = function(a, b) \
     return b end}) local n = 0 for i = 1, 20 do n = n + #o.name + (o + 1) end return n",
    "local C = {} local n = 0 for i = 1, 20 do local o = setmetatable({}, {__index = C}) n = n + \
     (o == C and 1 or 2) end return n",
    "local n = 0 for i = 1, 20 do n = n + i // 3 + i % 2.5 + i ^ 2 + (i << 1) end return n",
    "local t = {} for i = 1, 20 do table.insert(t, i) end for i = 1, 10 do table.remove(t) end \
     return #t",
];

#[test]
#[cfg(debug_assertions)]
fn panics_of_leaves_are_reported() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.to_string().contains("injected") && !info.to_string().contains("boom") {
            usual(info);
        }
    }));
    for program in LEAVES {
        let (mut reported, mut expected) = (0, None);
        for n in 0..60 {
            let lua = modes::Mode::Sync.state();
            lua.load(format!("function way() {program} end")).exec().expect(program);
            let call = || lua.load("return tostring(way())").call::<String>(()).expect(program);
            let value = call();
            perilune::panic_in_leaf(n);
            let result = catch_unwind(AssertUnwindSafe(call));
            perilune::panic_in_leaf(0);
            let expected = expected.get_or_insert_with(|| value.clone());
            match result {
                Ok(value) => assert_eq!(value, *expected, "{program}"),
                Err(panic) => {
                    let message = panic.downcast_ref::<&str>().copied();
                    assert_eq!(message, Some("injected panic"), "{program}");
                    reported += 1;
                }
            }
            // the state can be used afterwards
            assert_eq!(call(), *expected, "{program}: after panic {n}");
            lua.gc_collect().expect("it collects");
        }
        assert!(reported > 0 || program.contains('^'), "{program}: nothing was injected");
    }
}
