-- Without `__le`, `a <= b` is `not (b < a)`, as in PUC Lua when it is built as it is by default.
-- expect: ok
--| true	false	false	true	true
--| true	false	false	true
--| 2<1 1<2 1<2 2<1 1<1 1<1 1<2 1<3 1<0.5
--| true	false	1
--| false	true	2
--| false	true	2
--| false	true	2
--| true
--| true	false
--| true
--| false	le-by-lt.lua:49: attempt to compare table with number
--| false	le-by-lt.lua:24: attempt to concatenate a nil value
--| false	in lt
--| number
--| table
--| false!
--| 1715
--| 0	49

local calls = {}
local mt = { __lt = function(a, b)
  calls[#calls + 1] = (type(a) == "table" and a.v or a) .. "<" .. (type(b) == "table" and b.v or b)
  return (type(a) == "table" and a.v or a) < (type(b) == "table" and b.v or b)
end }
local function new(v) return setmetatable({ v = v }, mt) end
local a, b = new(1), new(2)
print(a <= b, b <= a, a >= b, b >= a, a <= a)
print(a <= 1, 2 <= a, a >= 3, 0.5 <= a)
print(table.concat(calls, " "))

-- the result is a boolean, whatever the metamethod returns
for _, r in ipairs { false, true, 0, "x" } do
  local t = setmetatable({}, { __lt = function() return r end })
  print(t <= t, not (t <= t), t <= t and 1 or 2)
end
local none = setmetatable({}, { __lt = function() end })
print(none <= none)

-- of two, that of the second operand comes first
local function named(n) return setmetatable({}, { __lt = function() return n == "x" end }) end
print(named("x") <= named("y"), named("y") <= named("x"))

-- `__le` counts where there is one
local function yes() return true end
local both = setmetatable({}, { __lt = yes, __le = yes })
print(both <= both)
print(pcall(function() return setmetatable({}, {}) <= 1 end))
print(pcall(function() return a <= nil end))

-- errors and yields
print(pcall(function()
  return setmetatable({}, { __lt = function() error("in lt", 0) end }) <= 1
end))
local co = coroutine.wrap(function()
  local t = setmetatable({}, { __lt = function(x, y) return coroutine.yield(type(x)) end })
  local r = t <= 5
  if 5 <= t then r = tostring(r) .. "!" end
  return r
end)
print(co())
print(co(true))
print(co(false))

-- in a loop that becomes hot
local n = 0
for i = 1, 3000 do
  if new(i % 7) <= new(3) then n = n + 1 end
end
print(n)
local list = {}
for i = 1, 50 do list[i] = new(i * 37 % 50) end
table.sort(list)
print(list[1].v, list[50].v)
