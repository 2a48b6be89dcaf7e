-- The stack grows under live upvalues, varargs and pending results.
-- expect: ok
--| 2	150	3	3
--| 140	1	nil	3
--| 31
--| changed
--| changed	p
--| 101	100	1	2	3
--| 11 22 

local function grow(n)
  if n == 0 then return 0 end local a, b, c, d, e, f, g, h = n, n, n, n, n, n, n, n
  return grow(n - 1) + 1
end
local x = 1
local function bump() x = x + 1; return x end
local before = { bump(), grow(150), bump() }
print(before[1], before[2], before[3], x)
local function va(...) local n = grow(140); local a, b = ...; return n, a, b, select("#", ...) end
print(va(1, nil, 3))
local function open()
  local v = 1; local function inc() v = v + 1 end; inc(); grow(160); inc(); v = v * 10; inc()
  return v
end
print(open())
local co = coroutine.wrap(function(p)
  local q = p; local function set(n) q = n end; grow(120); set("changed"); coroutine.yield(q)
  grow(150); return q, p
end)
print(co("p")); print(co())
local mt = setmetatable({}, {
  __index = function(t, k) return grow(100) end,
  __add = function(a, b) return grow(100), 1 end,
  __call = function(self, ...) grow(100); return ... end,
})
print(mt.x + 1, mt + 1, mt(1, 2, 3))
for i, v in (function() grow(100); return ipairs({ 1, 2 }) end)() do
  grow(90); io.write(i, v, " ")
end
print()
