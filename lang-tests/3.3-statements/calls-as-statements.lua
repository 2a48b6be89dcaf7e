-- Only calls are expressions that stand as statements (3.3.6).
-- expect: ok
--| 0 2 1 1 1 0 0 1 m0 m1 m1 m1 m1 3 m0
--| 1	2

local log = {}
local function f(...) log[#log + 1] = select("#", ...); return f end
f()
f(1, 2)
f{ 1 }
f"string"
f[[long]]
f()()(1)
local o = { m = function(self, ...) log[#log + 1] = "m" .. select("#", ...); return self end }
o:m()
o:m(1):m{ 2 }:m"3"
o.m(o, 1)
;(f)(1, 2, 3)
o["m"](o)
print(table.concat(log, " "))
local t = { f, { g = f } }
t[1](nil)
t[2].g(nil, nil)
print(log[#log - 1], log[#log])
