-- Constructors: list, record and computed fields (3.4.9).
-- expect: ok
--| 1	2	3	4	3	4	5	6	7	4
--| 4	a	a	c
--| 2	a
--| a	3
--| a	nil
--| a	nil
--| 3	1	deep
--| 1	2	3	4	x
--| 2	3	1	last
--| 0	0	nil	5	1	c
--| method	method

local t = { 1, 2, x = 3, ["y z"] = 4, [10] = 5, 3; 4, [1.5] = 6, [true] = 7, }
print(t[1], t[2], t[3], t[4], t.x, t["y z"], t[10], t[1.5], t[true], #t)
local function f() return "a", "b", "c" end
t = { f(), f() }
print(#t, t[1], t[2], t[4])
t = { f(), (f()) }
print(#t, t[2])
t = { x = f(), f() }
print(t.x, #t)
t = { f(), nil }
print(t[1], t[2])
t = { [f()] = f() }
print(t.a, t.b)
t = { {}, { {} }, { a = { b = { c = "deep" } } } }
print(#t, #t[2], t[3].a.b.c)
local i = 0
local function n() i = i + 1; return i end
t = { n(), n(), k = n(), n(), [n()] = "x" }
print(t[1], t[2], t.k, t[3], t[5])
local function v(...) return { ... }, { n = select("#", ...), ... }, { ..., "last" } end
local a, b, c = v(1, 2, nil)
print(#v(1, 2), b.n, c[1], c[2])
print(#{}, #{ nil }, next({}), ({ 5 })[1], #{ { } , }, ({ f() })[3])
t = { f = function(self) return self.name end, name = "method" }
print(t:f(), ({ t = t }).t:f())
