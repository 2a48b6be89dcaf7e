-- A metamethod's result is adjusted to one value (2.4).
-- expect: ok
--| 1	1	1	1	1
--| 1	1	2	3
--| nil	nil	nil	nil	nil	false	false	false
--| nil	1	1	1	4

local many = function() return 1, 2, 3 end
local o = setmetatable({}, { __add = many, __index = many, __concat = many, __unm = many,
  __len = many, __call = many })
print(o + o, o.x, o .. o, -o, #o)
print((o + o), o())
local none = function() end
local n = setmetatable({}, { __add = none, __index = none, __concat = none, __unm = none,
  __len = none, __eq = none, __lt = none, __le = none })
local n2 = setmetatable({}, getmetatable(n))
print(n + n, n.x, n .. n, -n, #n, n == n2, n < n2, n <= n2)
local t = { n + n, o + o, -o, o.x }
print(t[1], t[2], t[3], t[4], #t)
