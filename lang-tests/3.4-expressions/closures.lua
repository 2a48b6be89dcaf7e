-- Closures share and keep their upvalues (3.4.11, 3.5).
-- expect: ok
--| 1	2	2	1	1
--| 101	101	1
--| 2	11
--| 3	12
--| 3	20
--| 4	35
--| 2	4	3
--| 3	7	3
--| 2	3	3
--| 4
--| 2	1
--| 120

local function counter()
  local n = 0
  return function() n = n + 1; return n end, function() return n end, function(v) n = v end
end
local inc, get, set = counter()
local inc2, get2 = counter()
print(inc(), inc(), get(), inc2(), get2())
set(100)
print(inc(), get(), get2())
local fs = {}
for i = 1, 3 do
  local j = i * 10
  fs[i] = function(d) j = j + (d or 0); i = i + 1; return i, j end
end
print(fs[1](1)); print(fs[1](1)); print(fs[2]()); print(fs[3](5))
local function deep(a)
  return function(b)
    return function(c) return function() a = a + 1; b = b + a; return a, b, c end end
  end
end
local d = deep(1)(2)(3)
print(d()); print(d())
local x = 1
local function outer() local function inner() x = x + 1; return x end return inner end
print(outer()(), outer()(), x)
local function shadow(x) local x = x + 1; return function() local x = x * 2; return x end end
print(shadow(1)())
do local a, b = 1, 2; local function swap() a, b = b, a end swap(); print(a, b) end
print((function()
  local self; self = function(n) return n == 0 and 1 or n * self(n - 1) end; return self
end)()(5))
