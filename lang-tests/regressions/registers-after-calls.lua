-- Temporaries keep their values across calls that return a different number of results.
-- expect: ok
--| 30	1012030	31
--| 8	10	nil	20	1	5
--| nil	10
--| 75	16	0
--| 20	true
--| 3	2	1
--| 20	10	6

local function none() end
local function many() return 1, 2, 3, 4, 5 end
local a, b, c = 10, 20, 30
print(a + (none() or 0) + b, a .. (many()) .. b .. c, (many()) + c)
local t = { a, none(), b, many() }
print(#t, t[1], t[2], t[3], t[4], t[8])
local x, y = none(), a
print(x, y)
local function sum(...) local s = 0; for _, v in ipairs({ ... }) do s = s + v end; return s end
print(sum(a, sum(b, many()), c), sum(many(), many()), sum(none(), none()))
local r = a < sum(many()) and b or c
print(r, a == 10 and none() == nil and many() == 1)
local o = { v = 1, get = function(self, n) return self.v + (n or 0) end }
print(o:get(o:get(o:get())), o.get(o, many()), o:get(none()))
a, b = b, a
print(a, b, (function(...) return select("#", ...) end)(none(), many()))
