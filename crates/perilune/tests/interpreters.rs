//! The generated handlers of the interpreter and its portable loop give the same results, and
//! record the same feedback, cell by cell.

use std::panic::{AssertUnwindSafe, catch_unwind};

use perilune::{Engine, Function, Lua};

/// Runs a program that returns a function, and calls that function, in one of the interpreters.
/// Returns its output and its feedback.
fn run(engine: &Engine, source: &str, portable: bool) -> (String, String) {
    let lua = Lua::with_engine(engine);
    lua.set_portable_interpreter(portable);
    // A collection frees shapes, after which accesses miss once more.
    lua.gc_stop();
    let main: Function = lua.load(source).set_name("=program").into_function().expect("it loads");
    let shown = main.call::<String>(()).unwrap_or_else(|e| format!("error: {e}"));
    (shown, main.feedback())
}

#[track_caller]
fn check(source: &str) {
    let engine = Engine::interpreter();
    let (expected, recorded) = run(&engine, source, true);
    let (found, noted) = run(&engine, source, false);
    assert_eq!(found, expected);
    let lines = recorded.lines().zip(noted.lines());
    for (line, (expected, found)) in lines.enumerate() {
        assert_eq!(found, expected, "line {line} of the feedback:\n{recorded}");
    }
    assert_eq!(noted.lines().count(), recorded.lines().count());
}

/// Returns a program that calls `cases`, each a function with two parameters, with all pairs of
/// operands, and returns the results as text.
fn pairs(cases: &[String]) -> String {
    let cases: String = cases.iter().map(|c| format!("function(a, b) {c} end,\n")).collect();
    format!(
        "local meta = {{}}
        for _, event in ipairs {{'add', 'sub', 'mul', 'div', 'mod', 'pow', 'unm', 'idiv', 'band',
                'bor', 'bxor', 'shl', 'shr', 'bnot', 'concat', 'len', 'eq', 'lt', 'le'}} do
            meta['__' .. event] = function(a, b)
                return event .. type(a) .. type(b)
            end
        end
        local object = setmetatable({{}}, meta)
        local long = string.rep('x', 50)
        local values = {{
            0, 1, -1, 2, 3, 7, -7, 63, 64, 65, -64, 127, 128, -128, 255, math.maxinteger,
            math.mininteger, 1 << 53, 0.0, -0.0, 1.0, 1.5, -2.5, 3.0, 64.0, 1e15, 1e100, 2^53,
            2^63, 1/0, -1/0, 0/0, '10', '0x10', 'abc', '', long, string.rep('x', 50), true, false,
            {{}}, object, setmetatable({{}}, meta), rawlen,
        }}
        local cases = {{{cases}}}
        local out = {{}}
        local function show(ok, ...)
            local n = select('#', ...)
            local text = tostring(ok) .. n
            for i = 1, n do
                local v = select(i, ...)
                local t = type(v)
                if t == 'number' then
                    text = text .. ' ' .. math.type(v) .. string.format('%q', v)
                elseif t == 'string' then
                    text = text .. ' ' .. v:gsub('0x%x+', 'address')
                elseif t == 'boolean' or t == 'nil' then
                    text = text .. ' ' .. tostring(v)
                else
                    text = text .. ' ' .. t
                end
            end
            out[#out + 1] = text
        end
        for _, case in ipairs(cases) do
            for i = 1, #values + 1 do
                for j = 1, #values + 1 do
                    show(pcall(case, values[i], values[j]))
                end
            end
        end
        return table.concat(out, '\\n')"
    )
}

/// Checks cases in programs of `size` cases each.
fn check_pairs(cases: &[String], size: usize) {
    for cases in cases.chunks(size) {
        check(&pairs(cases));
    }
}

const BINARY: [&str; 12] = ["+", "-", "*", "/", "%", "//", "^", "&", "|", "~", "<<", ">>"];
const ORDERS: [&str; 6] = ["==", "~=", "<", "<=", ">", ">="];

#[test]
fn operators_on_registers() {
    let cases: Vec<String> = BINARY.iter().map(|op| format!("return a {op} b")).collect();
    check(&pairs(&cases));
}

#[test]
fn operators_with_constants() {
    let mut cases = Vec::new();
    for op in BINARY {
        for constant in ["0", "1", "2", "3", "7", "-7", "100", "300", "1.5", "2.0", "1e100"] {
            cases.push(format!("return a {op} {constant}, {constant} {op} b"));
        }
    }
    check_pairs(&cases, 12);
}

#[test]
fn operators_with_one_operand() {
    let cases = ["return -a, -b", "return ~a", "return not a, not b", "return #a"];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn comparisons() {
    let mut cases: Vec<String> = ORDERS.iter().map(|op| format!("return a {op} b")).collect();
    for op in ORDERS {
        for constant in ["0", "1", "-1", "64", "127", "-128", "1.0", "300", "1.5", "'abc'", "nil"] {
            cases.push(format!("if a {op} {constant} then return 1 else return b end"));
        }
    }
    check_pairs(&cases, 16);
}

#[test]
fn tests_and_jumps() {
    let cases = [
        "return a and b",
        "return a or b",
        "if a then return 1 end return 2",
        "if not a then return 1 end return 2",
        "local x = a or b or 1 return x and a, x",
        "local n = 0 while n < 10 do n = n + 1 if a == b then break end end return n",
        "local n = 0 repeat n = n + 1 until n > 3 or a return n",
        "for i = 1, 5 do if i == a then return i end end return b",
        "local n = 0 for i = a, b do n = n + 1 if n > 3 then return i end end return n",
        "local n = 0 for i = b, a, -1 do n = n + 1 if n > 3 then return i end end return n",
        "local n = 0 for i = 1, 2, a do n = n + i if n > 30 then return n end end return n",
    ];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn tables_by_computed_keys() {
    let cases = [
        "local t = {1, 2, 3, x = 4, abc = 5} return t[a], t[b], t[1], t[4], t[200]",
        "local t = {1.5, 2.5, 3.5} return t[a], t[2]",
        "local t = {true, 'x', false} t[2] = nil return t[a], t[1], t[2], t[3]",
        "local t = {} t[a] = b return t[a]",
        "local t = {1, 2, 3} t[a] = b t[4] = a t[5] = 1.5 return t[1], t[2], t[3], t[4], t[5], #t",
        "local t = {1.5, 2.5, 3.5} t[1] = a t[2] = 7 t[3] = b return t[1], t[2], t[3]",
        "local t = {'a', 'b', 'c'} t[1] = a t[2] = b t[3] = {} return t[1], t[2], #t",
        "local t = setmetatable({1, 2}, {__index = function(_, k) return k end}) return t[a], t[3]",
        "local t = setmetatable({1, 'x'}, {__newindex = function(t, k, v) rawset(t, k, b) end}) \
         t[1] = a t[2] = a t[3] = a return t[1], t[2], t[3]",
        "return a[b]",
        "return a[1]",
        "a[b] = 1 return a[b]",
        "a[1] = 1 return a[1]",
    ];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn fields_and_methods() {
    let cases = [
        "local t = {x = a, y = b} t.x, t.y = t.y, t.x return t.x, t.y, t.z",
        "local t = {} t.x = a t.y = b t.x = nil t.x = b return t.x, t.y",
        "return a.x",
        "a.x = b return a.x",
        "return a:upper()",
        "return a:len(), a.len",
        "local C = {} C.__index = C function C:get() return self.v end \
         local o = setmetatable({v = a}, C) return o:get(), o.v, o.w",
        "local A = {f = 1} local B = setmetatable({}, {__index = A}) \
         local o = setmetatable({}, {__index = B}) local x = o.f A.f = a return x, o.f",
        "local o = setmetatable({}, {__index = _G}) return o.print == print, o.nothing",
        "local o = setmetatable({}, {__index = function(_, k) return k end, \
         __newindex = function(t, k, v) rawset(t, k, v or 1) end}) o.k = a return o.k, o.j",
        "shared = a local x = shared shared = b shared2 = nil return x, shared, shared2",
    ];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn shapes_of_one_access() {
    // The access is monomorphic at first, then polymorphic, then megamorphic.
    check(
        "local out = {}
        local function get(t) return t.x end
        local function set(t, v) t.x = v end
        for n = 1, 200 do
            local t = {}
            for i = 1, n % 23 do t['f' .. i] = i end
            local u = load('return {f' .. n % 13 .. ' = 1, x = 2}')()
            set(t, n) set(u, n + 0.5)
            out[#out + 1] = get(t) .. get(u)
            local C = setmetatable({}, {__index = u})
            out[#out + 1] = tostring(get(C))
            set(C, n) out[#out + 1] = tostring(rawget(C, 'x'))
        end
        return table.concat(out, ' ')",
    );
}

#[test]
fn further_entries_of_a_cache() {
    // Four objects at a time share an access; the object from which they inherit changes each time.
    check(
        "local out = {}
        local A, B = {m = function(o) return 'A' end}, {m = function(o) return o.k or 'B' end}
        local D = {m = function() return 'D' end}
        for i = 1, 40 do D['name' .. i] = i end
        local function class(t, c) return setmetatable(t, {__index = c}) end
        local objects = {
            {x = 1}, {y = 2}, {y = 1, x = 3}, {z = 0, y = 1, x = false}, {x = nil, q = 1},
            class({k = 1}, A), class({k = 2}, B), class({j = 3}, B), class({j = 4}, A),
            class({k = 5}, D), class({x = 6, k = 6}, D), class({}, _G), class({x = 7}, {x = 8}),
            setmetatable({x = 9}, {__index = function() return 'f' end}), class({l = 1}, 'string'),
        }
        local function first(o) return o.x end
        local function second(o) return o.k end
        local function set(o, v) o.x = v end
        local function clear(o) o.x = nil end
        local function method(o) return o:m() end
        m = function() return 'global' end
        local function show(f, ...)
            local _, v = pcall(f, ...)
            out[#out + 1] = tostring(v)
        end
        for start = 1, #objects - 3 do
            -- accesses of their own for each group
            local load = load
            local text = string.dump(first)
            local first, second = load(text), load(string.dump(second))
            local method, set, clear = load(string.dump(method)), load(string.dump(set)), clear
            for round = 1, 12 do
                for i = start, start + 3 do
                    local o = objects[i]
                    show(first, o) show(second, o) show(method, o)
                    if round % 3 == 1 then show(set, o, round) end
                    if round % 4 == 2 then show(clear, o) end
                    if round == 5 then A.x, B.x = i, nil end
                    if round == 6 then D.k = 'd' .. i end
                    if round == 7 then A.x = nil B.x = 'b' x = i end
                    if round == 8 then D.k = nil B.m, A.m = A.m, B.m x = nil end
                    show(first, o)
                end
            end
        end
        return table.concat(out, ' ')",
    );
}

#[test]
fn calls_and_returns() {
    let cases = [
        "local function f(x, y, z) return x end return f(), f(a), f(a, b), f(a, b, 1, 2)",
        "local function f() end local x, y = f() return x, y, (f())",
        "local function f() return a, b end local x, y, z = f() return x, y, z, f()",
        "local function f(...) return ... end return f(a, b, f(b, a))",
        "local function f(...) return select('#', ...), ... end return f(f(), a, f(b))",
        "local function f(n) if n == 0 then return a end return f(n - 1) end return f(10)",
        "local function f(n) if n == 0 then return b end return (f(n - 1)) end return f(100)",
        "return a(b)",
        "return (a(b))",
        "return select(2, a, b), math.max(1, 2), string.rep('x', 3)",
        "return pcall(error, a), pcall(pcall, b), select('#', pcall(error))",
        "local t = setmetatable({}, {__call = function(_, x) return x end}) return t(a)",
        "local function up() local n = a return function() n = b return n end end return up()()",
        "local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end \
         return fs[1](), fs[1](), fs[2]()",
        "local co = coroutine.wrap(function(x) for i = 1, 3 do x = coroutine.yield(x) end return b \
         end) return co(a), co(b), co(a), co(b)",
        "local n = 0 for k, v in pairs({a, b, x = 1}) do n = n + 1 end return n",
        "local n = 0 for i, v in ipairs({a, b, 1}) do n = n + i end return n",
        "local n = 0 for k in next, {1, 2, 3} do n = n + k end return n",
        "local n = 0 for w in string.gmatch('a b c', '%a') do n = n + 1 end return n, a",
        "for i = 1, 3 do local x <close> = setmetatable({}, {__close = function() end}) end \
         return a",
        "local function f() local x <close> = setmetatable({}, {__close = function() end}) \
         return a, b end return f()",
        "local x <close> = a return b",
        "for i = 1, 2 do local x <close> = i == 1 and nil or a end return b",
        "return a .. b",
    ];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn calls_of_native_functions() {
    let cases = [
        "return tostring(a)",
        "return (tostring(a))",
        "return select(2, a, b)",
        "return string.byte(a), ('x'):byte(5), select('#', ('x'):byte(5))",
        "return select('#', ('x'):byte(5)), select('#', (print and table.insert)({}, a))",
        "local x, y, z = tostring(a), math.type(b) local u, v = type(a) return x, y, z, u, v",
        "local x, y, z = select(1, a, b) return z, y, x",
        "local x, y = math.floor(a), nil return x, y",
        "tostring(a) assert(a) return 1",
        "return assert(a, b)",
        "return select('#', assert(a, b)), (assert(a, b))",
        "return select('#', rawget({a}, 1), type(a), rawequal(a, b))",
        "return pcall(select, '#', a, b)",
        "return setmetatable({a}, {__index = {x = b}}).x",
        "local function f(...) return select('#', ...) end return f(f(a, type(b)))",
        "local function f(...) return rawequal(...) end return f(a, b)",
        "local function f(...) return (...) end return f(type(a), tostring(b))",
        "local n = 0 local function f() n = n + 1 return type(n) end return f(), f()",
        "local n = 0 do local m = 1 local function f() m = m + 1 return tostring(m) end n = f() \
         end return n",
        "local t = {} for i = 1, 300 do t[i] = i end return select('#', table.unpack(t)), \
         math.max(table.unpack(t))",
        "local t = {} for i = 1, 5000 do t[i] = 65 end return #string.char(table.unpack(t)), a",
        "local t = setmetatable({}, {__call = print and math.max}) return pcall(t, a, b)",
        "local co = coroutine.wrap(function(x) return coroutine.yield(x) end) return co(a), co(b)",
        "local co = coroutine.wrap(function(x) return pcall(coroutine.yield, x) end) \
         return co(a), co(b)",
        "return table.concat({pcall(string.rep, a, b)}, ',') == nil",
        "local t = {3, 1, 2} table.sort(t, function(x, y) return x < y end) \
         return table.concat(t, ' '), (('abc'):gsub('%a', function(c) return c:upper() end))",
    ];
    check(&pairs(&cases.map(str::to_owned)));
}

#[test]
fn metamethods_and_iterators() {
    // with none, one and several results, which RETURN0, RETURN1 and RETURN return
    let results = ["", "return x", "return x, y", "return y, x, 1", "return ..."];
    let mut cases = Vec::new();
    for returned in results {
        let f = format!("function(x, y, ...) {returned} end");
        cases.push(format!(
            "local o = setmetatable({{}}, {{__index = {f}}}) \
             return o.k, o[1], o[a], o[b], (o.k), rawequal(o.k, o)"
        ));
        cases.push(format!(
            "local o = setmetatable({{}}, {{__index = {f}, __newindex = {f}}}) \
             o.k = a o[1] = b o[2] = nil o.l = 1 o['m' .. 1] = a return o.k, o[1], o.l"
        ));
        cases.push(format!("local o = setmetatable({{}}, {{__index = {f}}}) return o:k(a)"));
        cases.push(format!(
            "local o = setmetatable({{}}, {{__len = {f}, __unm = {f}, __add = {f}, __concat = {f}, \
             __eq = {f}, __lt = {f}, __le = {f}, __bnot = {f}, __idiv = {f}}}) \
             local p = setmetatable({{}}, getmetatable(o)) \
             return #o, -o, ~o, o + a, b + o, 1 + o, o + 1, o // 2, o .. 'x', o == p, o ~= p, \
             o < p, o <= p, o > 1, o >= 1, 1 < o"
        ));
        cases.push(format!(
            "local n = 0 local function step(x, y, ...) n = n + 1 if n > 3 then return nil end \
             {returned} end \
             local out = '' for i, j, k, l in step, a, b do \
             out = out .. type(i) .. type(j) .. type(k) .. type(l) if n > 5 then break end end \
             return out, n"
        ));
        cases.push(format!(
            "local env = setmetatable({{}}, {{__index = {f}, __newindex = {f}}}) \
             local f = load('x = 1 y = x return x, y, z', 'chunk', 't', env) return pcall(f)"
        ));
        cases.push(format!(
            "local o = setmetatable({{}}, {{__call = {f}}}) local function g() return o(a, b) end \
             local x, y = o(a, b) return x, y, g()"
        ));
    }
    // several iterators, with any number of parameters
    for parameters in ["", "x", "x, y", "x, y, z"] {
        cases.push(format!(
            "local n = 0 \
             local function step({parameters}) n = n + 1 if n % 4 ~= 0 then return n, x, y end end \
             local function other({parameters}) n = n + 1 if n % 3 ~= 0 then return y or n end end \
             local steps, out = {{step, other, next}}, '' \
             for i = 1, 9 do for j, k, l in steps[i % 3 + 1], {{a, b}} do \
             out = out .. type(j) .. type(k) .. type(l) end end return out, n"
        ));
    }
    check_pairs(&cases, 9);
}

#[test]
fn loops_of_floats() {
    let mut cases = Vec::new();
    for range in [
        "1.0, 3",
        "1, 3.5, 0.5",
        "1.0, 3, 0.5",
        "3.0, 1, -0.5",
        "3, 1, -0.5",
        "1.0, 0.0",
        "0.0, -1.0",
        "1, math.huge",
        "1.0, -math.huge, -1",
        "1, 3.7",
        "3, 0.5, -1",
        "1, 10, 3",
        "10, 1, -4",
        "math.maxinteger - 1, math.maxinteger",
        "a, b",
        "a, b, 0.25",
        "b, a, -0.25",
        "1.0, a, b",
    ] {
        cases.push(format!(
            "local n, s = 0, 0 for i = {range} do n = n + 1 s = s + i if n > 9 then break end end \
             return n, s, math.type(s)"
        ));
    }
    check_pairs(&cases, 9);
}

#[test]
fn methods_named_by_far_constants() {
    let long = "l".repeat(50);
    // With more than 255 constants before it, the name of a method is in a register.
    let constants: Vec<String> = (0..300).map(|n| format!("'c{n}'")).collect();
    let constants = constants.join(",");
    check(&format!(
        "local function far(o) local t = {{{constants}}} return o:farthest(#t) end
        local function long(o) local t = {{{constants}}} return o:{long}(#t) end
        local out = {{}}
        local C = {{farthest = function(o, n) return n end, {long} = function(o, n) return -n end}}
        for _, o in ipairs {{C, setmetatable({{}}, {{__index = C}}), 1, 'x', false,
                setmetatable({{}}, {{__index = function(_, k) return function() return k end
                end}})}} do
            out[#out + 1] = tostring(select(2, pcall(far, o)))
            out[#out + 1] = tostring(select(2, pcall(long, o)))
        end
        return table.concat(out, ' ')"
    ));
}

#[test]
fn call_sites_with_several_callees() {
    check(
        "local n = 0
        local function f(x) n = n + x return n end
        local function g(x) n = n - x end
        local fs = {f, g, math.abs, f, g, print and tostring, f}
        for i = 1, 500 do local r = fs[i % 7 + 1](i) end
        return tostring(n)",
    );
}

#[test]
fn panics_pass_handlers() {
    let lua = Lua::with_engine(&Engine::interpreter());
    lua.set_portable_interpreter(false);
    let fail = lua.create_function(|_, n: i64| -> perilune::Result<i64> {
        if n == 3 { panic!("the third") } else { Ok(n) }
    });
    lua.globals().set("fail", fail.expect("there is memory")).expect("it is a table");
    let text = "local function f() for i = 1, 5 do fail(i) end end local x = f() return x";
    let run = catch_unwind(AssertUnwindSafe(|| lua.load(text).exec()));
    let panic = run.expect_err("the function panics");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the third"));
    let after = lua.load("local n = 0 for i = 1, 9 do n = n + fail(1) end return n").eval::<i64>();
    assert_eq!(after.expect("the state is usable"), 9);
}
