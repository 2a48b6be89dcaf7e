-- Argument passing: adjustment to parameters, and call forms (3.4.10).
-- expect: ok
--| nil	nil	nil
--| 1	nil	nil
--| 1	2	3
--| table	s	l	q	2	X	yy
--| 5	6	8	8	2
--| 42	3
--| 3	3	4	5
--| 1 2 3 4 5
--| chained
--| B A
--| 6
--| 0	2	1
--| true	true	1	2	3

local function f(a, b, c) return a, b, c end
print(f()); print(f(1)); print(f(1, 2, 3, 4))
local function id(...) return ... end
print(type(id{ 1 }), id"s", id[[l]], id'q', #id{ 1, 2 }, id"x":upper(), ("y"):rep(2))
local o = { n = 5 }
function o:add(x, y) return self.n + (x or 0) + (y or 0) end
print(o:add(), o:add(1), o:add(1, 2), o.add(o, 3), o["add"]({ n = 1 }, 1))
print((function(x) return x * 2 end)(21), (function(...) return select("#", ...) end)(1, 2, 3))
local order = {}
local function v(x) order[#order + 1] = x; return x end
print(v(1) + v(2), f(v(3), v(4), v(5)))
print(table.concat(order, " "))
local t = { { g = function() return { h = function() return "chained" end } end } }
print(t[1].g().h())
local s = ("%s %s"):format("a", "b"):upper():reverse()
print(s)
local function curry(a) return function(b) return function(c) return a + b + c end end end
print(curry(1)(2)(3))
print(#o, select("#", nil, nil), (id(1, 2)))
print(pcall(f), pcall(f, 1, 2, 3))
