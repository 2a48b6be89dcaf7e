-- expect: ok
--| 6259.199543
--| 67900
--| 12258	20665
--| 10185
--| 12055
--| 220
--| 12055	12055
--| 39
--| true	attempt to perform arithmetic on a table value (field 'y')	1
--| 5	2
-- Tail calls whose last arguments are all results of another call, in functions that are inlined.
local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end
local V = {}
V.__index = V
function V:dot(o) return self.x * o.x + self.y * o.y end
function V:length() return math.sqrt(self:dot(self)) end
function V:half() return math.max(self:length() / 2, self:dot(self)) end
local function new(x, y) return setmetatable({ x = x, y = y }, V) end
local function lengths(n)
  local s = 0
  for i = 1, n do
    local v = new(i, i + 0.5)
    s = s + v:length() + v:half()
  end
  return s
end
print(string.format("%.6f", hot(lengths, 20)))

-- two results, none, and more arguments than parameters
local function two(a) return a, a + 1 end
local function none() end
local function add(a, b, c) return a + (b or 100) * 2 + (c or 1000) end
local function pass(a) return add(two(a)) end
local function more(a) return add(a, two(a)) end
local function many(a) return add(a, a, two(a)) end
local function few(a) return add(a, none()) end
local function nested(a) return add(add(two(a)), two(math.abs(-a))) end
local function all(n)
  local s = 0
  for i = 1, n do s = s + pass(i) + more(i) + many(i) + few(i) + nested(i) end
  return s
end
print(hot(all, 20))

-- the number of results changes, and so do the callees
local function some(n)
  if n > 15 then return n end
  return n, n
end
local function count(...) return select("#", ...) end
local function counted(n) return count(some(n)) end
local function id(...) return ... end
local function through(n) return add(id(n, n)) end
local function changes(n)
  local s = 0
  for i = 1, n do s = s + counted(i) + through(i) end
  return s
end
print(hot(changes, 12), changes(20))
local chosen = two
local function choose(n) return add(chosen(n)) end
local function choices(n)
  local s = 0
  for i = 1, n do s = s + choose(i) end
  return s
end
print(hot(choices, 10))
chosen = function(n) return n end
print(choices(10))
chosen = function(n) return n, n, n, n end
print(choices(10))
chosen = math.abs
print(choices(10), hot(choices, 10))

-- errors, levels and tracebacks
local function fails(v) return math.floor(v:dot(v)) end
local function calls(v)
  local r = 0
  for _ = 1, 3 do r = r + fails(v) end
  return r
end
print(hot(calls, new(2, 3)))
print(pcall(calls, new(2, "x")) == false, select(2, pcall(calls, new(2, {}))):gsub("^.-:%d+: ", ""))
local depth = 0
local function level(n)
  depth = 0
  while debug.getinfo(depth + 1, "l") do depth = depth + 1 end
  return n
end
local function deep(n) return math.abs(level(n)) end
local function deeper(n) return deep((deep(n))) end
level(0)
local base = depth
print(hot(deeper, 5), depth - base)
