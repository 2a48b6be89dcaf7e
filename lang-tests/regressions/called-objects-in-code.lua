-- expect: ok
--| 1400	1400
--| 90600
--| 400	2	y	1
--| 201
--| 1200
--| true
--| 800
--| 200
--| -200
--| 2	false	attempt to perform arithmetic on a table value (local 'x')
--| false	attempt to call a table value (upvalue 'changing')
--| false	attempt to call a table value (local 't')
--| 200	100
--| -299
--| 200
--| 20100
--| 5050
-- Calls of objects with `__call`, which compiled code inlines.
local function times(n, f)
  local last
  for i = 1, n do last = f(i) end
  return last
end

local function message(f, ...)
  local ok, result = pcall(f, ...)
  return ok, (tostring(result):gsub("^.-:%d+: ", ""))
end

-- A functor, with any number of arguments.
local counter = setmetatable({ n = 0 }, { __call = function(self, by, ...)
  self.n = self.n + (by or 1) + select("#", ...)
  return self.n
end })
local function count()
  for i = 1, 200 do
    counter()
    counter(2)
    counter(2, "a", nil)
  end
  return counter.n
end
print(count(), counter(0))

-- Classes that are called: arguments are passed on.
local Class = {}
Class.__index = Class
Class.__call = function(class, ...) return class:new(...) end
function Class:new(...)
  local object = setmetatable({}, self)
  object:init(...)
  return object
end
local function class()
  local c = setmetatable({}, Class)
  c.__index = c
  return c
end
local Point, Line = class(), class()
function Point:init(x, y) self.x, self.y = x, y or 0 end
function Point:sum() return self.x + self.y end
function Line:init(from, to) self.from, self.to, self.length = from, to, to.x - from.x end
local function lengths(n)
  local sum = 0
  for i = 1, n do
    local line = Line(Point(i), Point(2 * i, 1))
    sum = sum + line.length + line.to:sum() - line.from:sum()
  end
  return sum
end
print(lengths(300))

-- Tail calls of objects, and results.
local double = setmetatable({}, { __call = function(_, x) return x * 2 end })
local pair = setmetatable({}, { __call = function(_, x, y) return y, x end })
local function tail(x) return double(x) end
local function swap(x) return pair(x, "y") end
print(times(200, tail), times(200, function(i) return select("#", swap(i)) end), swap(1))
print(times(200, function(i)
  local a, b, c = pair(i, 1)
  return a + b + (c and 1 or 0)
end))
print(times(200, function(i) return double(pair(i, i)) + double(double(i)) end))

-- The object is an argument like others, and the last one that is nil.
local self_of = setmetatable({}, { __call = function(...) return select("#", ...), (...) end })
print(times(200, function(i)
  local n, object = self_of(nil, i, nil)
  return n == 4 and object == self_of
end))

-- Another object, another metamethod, none, and an error in one.
local function other(i)
  return setmetatable({ i = i }, { __call = function(self, x) return self.i + x end })
end
local objects = { double, other(10), other(20), setmetatable({}, getmetatable(double)) }
print(times(400, function(i) return objects[i // 101 + 1](i) end))
local meta = { __call = function(_, x) return x end }
local changing = setmetatable({}, meta)
local function call(i) return changing(i) end
print(times(200, call))
meta.__call = function(_, x) return -x end
print(times(200, call))
meta.__call = double
print(times(200, function(i) return select("#", pcall(call, i)) end), message(times, 3, call))
meta.__call = nil
print(message(call, 1))
print(message(function() local t = setmetatable({}, meta) t(1) end))
local fails = setmetatable({}, { __call = function(_, x, ...)
  if x % 3 == 0 then error("third", 0) end
  return x, ...
end })
local good, bad = 0, 0
local function try(i) return (fails(i, i)) end
for i = 1, 300 do
  if pcall(try, i) then good = good + 1 else bad = bad + 1 end
end
print(good, bad)

-- Functions and objects at one call, and objects that are functions' results.
local callees = { function(x) return x + 1 end, double, math.abs }
print(times(300, function(i)
  local f = callees[i % 3 + 1]
  return f(-i)
end))
local made = function(n) return setmetatable({}, { __call = function() return n end }) end
print(times(200, function(i) return made(i)() end))

-- Coroutines that yield in one, and tables that are called in a loop.
local yields = setmetatable({}, { __call = function(_, x) return coroutine.yield(x) end })
local co = coroutine.wrap(function()
  local sum = 0
  for i = 1, 200 do sum = sum + yields(i) end
  return sum
end)
local x = co()
for i = 1, 199 do x = co(x) end
print(co(x))
local iterator = setmetatable({}, { __call = function(_, _, i)
  i = i + 1
  if i <= 100 then return i end
end })
local s = 0
for i in iterator, nil, 0 do s = s + i end
print(s)
