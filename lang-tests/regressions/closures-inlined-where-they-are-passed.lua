-- Closures that are inlined in functions to which they are passed (3.4.11).
-- expect: ok
--| 15	2	4	nil	5	10
--| 3.5	2
--| closures-inlined-where-they-are-passed.lua:28: attempt to perform arithmetic on a table value (local 'x')
--| closures-inlined-where-they-are-passed.lua:54: in metamethod 'add'
--| closures-inlined-where-they-are-passed.lua:28: in local 'f'
--| closures-inlined-where-they-are-passed.lua:23: in method 'each'
--| closures-inlined-where-they-are-passed.lua:54: in local 'traced'
--| closures-inlined-where-they-are-passed.lua:56: in main chunk
--| 30	55	true
--| 5	15	30
--| 15	0	-75
--| 6	7	5	5
--| 5	4	3	2	1	end
--| false	4

-- A function that calls what it is passed, with other closures from other places.
local List = {}
List.__index = List
function List.of(...) return setmetatable({ n = select("#", ...), ... }, List) end
function List:each(f)
  for i = 1, self.n do f(self[i], i) end
end
function List:all(f) self:each(f) end
local function sum(l)
  local s = 0
  l:each(function(x) s = s + x end)
  return s
end
local function evens(l)
  local found = 0
  l:all(function(x) if x % 2 == 0 then found = found + 1 end end)
  return found
end
local function first(l, limit)
  local at
  local function check(x, i) if not at and x > limit then at = i end end
  l:each(check)
  return at
end
local function copy(l)
  local out = {}
  l:each(function(x, i) out[i] = x * 2 end)
  return out
end
local l = List.of(1, 2, 3, 4, 5)
for _ = 1, 80 do sum(l) evens(l) first(l, 3) copy(l) end
print(sum(l), evens(l), first(l, 3), first(l, 9), #copy(l), copy(l)[5])

-- Elements of other types, errors with their positions, and results that are ignored.
print(sum(List.of(0.5, 2, 1)), evens(List.of(2.0, 4, 3)))
local function traced(...)
  return select(2, xpcall(..., function(m) return debug.traceback(m, 1) end, select(2, ...)))
end
local text = traced(sum, List.of(1, {}, 3))
for line in text:gmatch("[^\n]+") do
  local place = line:match("[%w-]+%.lua:%d+:.*")
  if place and not place:find("<") then print(place) end
end

-- The method changes, and closures that look alike are passed at the same place.
local function apply(l, f)
  local n = 0
  l:each(function(x) n = n + f(x) end)
  return n
end
local function double(x) return 2 * x end
for _ = 1, 80 do apply(l, double) end
print(apply(l, double), apply(l, function(x) return x * x end), apply(l, math.sqrt) > 8)
function List:each(f)
  for i = self.n, 1, -1 do f(self[i], i) end
end
print(first(l, 1), sum(l), apply(l, double))

-- Variables that closures share with each other and with the function that makes them.
local function counters(l)
  local a, b = 0, 0
  local function add(x) a, b = a + x, b - a end
  l:each(add)
  local before = a
  l:each(function(x) add(-x) end)
  return before, a, b
end
for _ = 1, 80 do counters(l) end
print(counters(l))
local kept = {}
local function keep(l)
  l:each(function(x) kept[#kept + 1] = function() x = x + 1 return x end end)
end
for _ = 1, 80 do
  kept = {}
  keep(l)
end
print(kept[1](), kept[1](), kept[2](), #kept)

-- A closure that yields, and one that fails, in the middle of the loop.
local co = coroutine.wrap(function() l:each(function(x) coroutine.yield(x) end) return "end" end)
print(co(), co(), co(), co(), co(), co())
local function guarded(l)
  local seen = 0
  local ok = pcall(l.each, l, function(x)
    seen = seen + 1
    if x == 2 then error("stop") end
  end)
  return ok, seen
end
for _ = 1, 80 do guarded(l) end
print(guarded(l))
