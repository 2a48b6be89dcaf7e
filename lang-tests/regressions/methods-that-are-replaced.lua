-- Compiled code calls the method that a class has now: not one that was replaced or removed, was in
-- a table that became an environment, or that another metatable of objects of the same shape has.
-- expect: ok
--| 300
--| 600
--| 900
--| 1200
--| 1800
--| 1800
--| 2094
--| false
--| false
--| 2700
--| 2700
--| 2700	3300	3300
--| 2700	3300	3600
--| 3300
--| 3600	3600
--| 300
--| 3900
--| 4200
--| 4500
--| 4800
--| 4800	true
--| false
--| 5100	true
--| 5700	6000
--| 6300	6000
--| 200	300
--| 300	400
--| 400	500
--| 500	600
--| 600	700
--| 700	800

local function class()
  local C = {}
  C.__index = C
  return C
end

local function call(o, n)
  local sum = 0
  for _ = 1, n do sum = sum + o:get(1) end
  return sum
end

local A = class()
function A.get(_, n) return n end
local a = setmetatable({x = 1}, A)
print(call(a, 300))

-- replaced by another closure of the same function, by another function, in three ways
local function make(k) return function(_, n) return n * k end end
for k = 2, 4 do
  A.get = make(k)
  print(call(a, 300))
end
rawset(A, "get", function(_, n) return n + 5 end)
print(call(a, 300))
for name in pairs(A) do
  if name == "get" then A[name] = make(6) end
end
print(call(a, 300))

-- replaced while it runs
A.get = function(_, n)
  A.get = make(7)
  return n
end
print(call(a, 300))

-- no Lua function any more
A.get = math.max
print((pcall(call, a, 300)))
A.get = nil
print((pcall(call, a, 3)))
A.get = setmetatable({}, {__call = function(_, _, n) return n + 8 end})
print(call(a, 300))
A.get = make(9)
print(call(a, 300))

-- objects of one shape with different metatables, one of which inherits
local B, C = class(), class()
setmetatable(C, B)
function B.get(_, n) return n + 10 end
local b, c = setmetatable({x = 1}, B), setmetatable({x = 1}, C)
print(call(a, 300), call(b, 300), call(c, 300))
function C.get(_, n) return n + 11 end
print(call(a, 300), call(b, 300), call(c, 300))
C.get = nil
print(call(c, 300))
B.get = make(12)
print(call(b, 300), call(c, 300))

-- the class becomes an environment, where stores need not look the field up
local E = class()
function E.get(_, n) return n end
local e = setmetatable({x = 1}, E)
print(call(e, 300))
local function store(f)
  local _ENV = E
  get = f
end
for k = 13, 15 do
  store(make(k))
  print(call(e, 300))
end

-- a class that holds its methods weakly
local W = setmetatable(class(), {__mode = "v"})
local kept = make(16)
W.get = kept
local w = setmetatable({x = 1}, W)
print(call(w, 300))
collectgarbage()
collectgarbage()
print(call(w, 300), kept ~= nil)
kept = nil
collectgarbage()
collectgarbage()
print((pcall(call, w, 3)))
kept = make(17)
W.get = kept
print(call(w, 300), kept ~= nil)

-- objects of several shapes at one call: the method is in a further entry of the inline cache
local M = class()
M.get = make(18)
local function get(o) return o:get(1) end
local function first(o, n)
  local sum = 0
  for _ = 1, n do sum = sum + o.x + get(o) end
  return sum
end
local function second(o, n)
  local sum = 0
  for _ = 1, n do sum = sum + o.y + get(o) end
  return sum
end
local m1, m2 = setmetatable({x = 1}, M), setmetatable({y = 2}, M)
print(first(m1, 300), second(m2, 300))
M.get = make(19)
print(second(m2, 300), first(m1, 300))

-- a field that is a Lua function and something else in turn
for k = 1, 6 do
  M.get = k % 2 == 0 and make(k) or setmetatable({}, {__call = function() return k end})
  print(first(m1, 100), second(m2, 100))
end
