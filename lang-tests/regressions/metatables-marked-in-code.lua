-- Compiled code marks a table that becomes a metatable, or the `__index` of one, for the first
-- time. What is stored to such a table later has to reach the caches that rely on it, in the same
-- function and elsewhere.
-- expect: ok

local function first() return "first" end
local function second() return "second" end

-- a store before the class is marked says nothing about stores after it
local function change(class, base, value)
  base.get = first
  local object = setmetatable({}, class)
  local before = object.get()
  base.get = value
  return before, object.get()
end

local function change_class(base, value)
  base.get = first
  local object = setmetatable({}, { __index = base })
  local before = object.get()
  base.get = value
  return before, object.get()
end

local function get(object) return object.get() end

-- an object that no other value refers to before it is a class itself
local function inherit(class, value)
  local base = { get = first }
  class.__index = base
  local object = setmetatable({}, class)
  local before = get(object)
  base.get = value
  return before, get(object)
end

local function expect(before, after)
  assert(before == "first" and after == "second")
end

for i = 1, 600 do
  local base = {}
  expect(change({ __index = base }, base, second))
  base = {}
  expect(change_class(base, second))
  base = { get = first }
  expect(change_class(base, second))
  expect(inherit({}, second))
  base = setmetatable({}, { __index = { get = first } })
  base.__index = base
  local object = setmetatable({}, base)
  assert(get(object) == "first")
  base.get = second
  assert(get(object) == "second")
end

-- in a loop whose body stores to the class as well
local function many(classes, bases)
  local count = 0
  for i = 1, #classes do
    local class, base = classes[i], bases[i]
    base.get = first
    local object = setmetatable({}, class)
    if object.get() == "first" then count = count + 1 end
    base.get = second
    if object.get() == "second" then count = count + 1 end
  end
  return count
end

for _ = 1, 60 do
  local classes, bases = {}, {}
  for i = 1, 10 do
    bases[i] = {}
    classes[i] = { __index = bases[i] }
  end
  assert(many(classes, bases) == 20)
end

-- metamethods that a metatable gets after code has marked it
local function make(class, x) return setmetatable({ x = x }, class) end
local function add(a, b) return a + b end
local function call(f) return f() end
local function set(t, key, value) t[key] = value return rawget(t, key) end

for i = 1, 600 do
  local class = {}
  local a, b = make(class, 1), make(class, 2)
  assert(not pcall(add, a, b) and not pcall(call, a) and set(a, "y", i) == i)
  class.__add = function(p, q) return p.x + q.x end
  class.__call = function(p) return p.x end
  class.__newindex = function() end
  assert(add(a, b) == 3 and call(a) == 1 and set(b, "y", i) == nil)
  class.__add = nil
  assert(not pcall(add, a, b))
end

-- finalizers
local finalized = 0
for i = 1, 300 do
  make({ __gc = function() finalized = finalized + 1 end }, i)
  local class = {}
  make(class, i)
  class.__gc = function() finalized = finalized + 1000 end
  make(class, i).x = nil
end
collectgarbage()
collectgarbage()
assert(finalized == 300 + 300 * 1000, finalized)
