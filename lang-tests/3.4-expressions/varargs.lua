-- Vararg expressions and functions (3.4.11, 3.4.12).
-- expect: ok
--|
--| 1
--| nil	nil
--| 1
--| 1	3	4
--| 0	1	2	0	1	1
--| nil	nil	0
--| 1	nil	0
--| 1	2	1	3
--| 1	2	2	nil	nil
--| 3	0	1
--| nil	2	1
--| 3	2	1
--| 2	1	extra
--| 10
--| 15
--| 1	10
--| 1	0
--| s:1: cannot use '...' outside a vararg function near '...'
--| s:1: ')' expected near ','
--| 1	2
--| 1	2
--| 1	2

local function v(...) return ... end
print(v()); print(v(1)); print(v(nil, nil)); print((v(1, 2))); print(v(1, 2), v(3, 4))
local function count(...) return select("#", ...) end
print(count(), count(nil), count(nil, nil), count(v()), count(v(nil)), count((v())))
local function named(a, b, ...) return a, b, select("#", ...), ... end
print(named()); print(named(1)); print(named(1, 2, 3)); print(named(1, 2, nil, nil))
local function pack(...) local t = { ... }; t.n = select("#", ...); return t end
print(pack(1, nil, 3).n, pack().n, pack(nil).n)
local function locals(...) local a, b, c = ...; return c, b, a end
print(locals(1, 2)); print(locals(1, 2, 3, 4))
local function inner(...) return (function(...) return select("#", ...), ... end)(..., "extra") end
print(inner(1, 2, 3))
local function each(...) local s = 0; for _, x in ipairs({ ... }) do s = s + x end return s end
print(each(1, 2, 3, 4))
local function rest(a, ...) if a then return a + rest(...) end return 0 end
print(rest(1, 2, 3, 4, 5))
local function modify(...) local a = ...; a = 10; return ..., a end
print(modify(1, 2))
print(load("return ..., select('#', ...)")(1, 2), select("#", ...))
print(select(2, load("function f() return ... end", "=s")))
print(select(2, load("local function f(a, ..., b) end", "=s")))
local function coro(...) for i = 1, 2 do coroutine.yield(...) end return ... end
local co = coroutine.wrap(coro)
print(co(1, 2)); print(co()); print(co())
