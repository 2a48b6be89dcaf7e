-- expect: ok
--| 45750	45750	300	2	true
--| 160400	9
--| 300,2 90,-90 99,-99 180,-180 199,-199 270,-270 299,-299 360,-360 399,-399
--| 88374.0	6
--| 64300
--| 226950
--| 20300	200	200
--| marked x y
--| 59526
--| 47850	9
--| 10200
--| 7620	7500	22020
--| 7620	7500	22020
--| 7740	14880	22260
--| 7740	14880	22260
--| 7560.0	3810.0	21900.0
--| 7560.0	3810.0	21900.0
--| 7860	22260	22500
--| 7860	22260	22500
-- Objects whose fields other functions store, and which compiled code does not allocate.
local C = {}
C.__index = C
local function init(o, x, y) o.x = x o.y = y end
local function new(x, y)
  local o = setmetatable({}, C)
  init(o, x, y)
  return o
end
function C:sum() return self.x + self.y end
local seen = {}
local function sums(n, keep)
  local s = 0
  for i = 1, n do
    local o = new(i, 2)
    if i == keep then seen[#seen + 1] = o end
    s = s + o:sum() + (o.z and 1 or 0)
  end
  return s
end
print(sums(300), sums(300, 300), seen[1].x, seen[1].y, getmetatable(seen[1]) == C)

-- The object is needed before, between and after the stores.
local function half(o, x) o.x = x if x % 100 == 99 then seen[#seen + 1] = o end o.y = -x end
local function between(n)
  local s = 0
  for i = 1, n do
    local o = setmetatable({}, C)
    if i % 90 == 0 then seen[#seen + 1] = o end
    half(o, i)
    s = s + o.x - o.y
  end
  return s
end
print(between(400), #seen)
for i, o in ipairs(seen) do seen[i] = o.x .. "," .. o.y end
print(table.concat(seen, " "))

-- Errors, and operands of other types, while the object is not complete.
local function may_fail(o, x, y)
  o.x = x
  o.twice = x + y
  o.y = y
end
local function try(x, y)
  local o = setmetatable({}, C)
  may_fail(o, x, y)
  return o.twice + o.x
end
local good, bad = 0, 0
for i = 1, 300 do
  local ok, v = pcall(try, i, i % 50 == 49 and {} or i % 50 == 48 and "3" or 0.5)
  if ok then good = good + v else bad = bad + 1 end
end
print(good, bad)

-- Stores in one branch, in a loop, and again.
local function mark(o, i) o.marked = i end
local function branches(n)
  local s = 0
  for i = 1, n do
    local o = setmetatable({ i = i }, C)
    if i % 3 == 0 then mark(o, i) end
    for _ = 1, i % 4 do mark(o, (o.marked or 0) + 1) end
    init(o, 1, 2)
    init(o, 3, 4)
    s = s + (o.marked or -1) + o.x * o.y + o.i
  end
  return s
end
print(branches(300))

-- Two levels, each with fields of its own, and objects in objects.
local Base, Derived = {}, {}
Base.__index, Derived.__index = Base, setmetatable(Derived, Base)
function Base.init(o, name) o.name = name o.parts = nil return o end
function Derived.init(o, name, n)
  Base.init(o, name)
  o.n = n
  o.inner = new(n, n + 1)
  return o
end
local function derived(n)
  local s = 0
  for i = 1, n do
    local o = Derived.init(setmetatable({}, Derived), "d", i)
    s = s + #o.name + o.n + o.inner:sum()
    o.inner.x = i
    s = s + o.inner:sum() + (o.parts == nil and 1 or 0)
  end
  return s
end
print(derived(300))

-- What a traversal, `rawlen`, `next` and a metamethod see.
local log = {}
local W = { __newindex = function(t, k, v) log[k] = (log[k] or 0) + 1 rawset(t, k, v) end }
local function watched(n)
  local count = 0
  for i = 1, n do
    local o = setmetatable({}, W)
    init(o, i, 1)
    o.x = o.x + 1
    count = count + o.x
  end
  return count
end
print(watched(200), log.x, log.y)
local function shown(n)
  local text
  for i = 1, n do
    local o = setmetatable({}, C)
    init(o, i, "y")
    mark(o, true)
    local names = {}
    for k in pairs(o) do names[#names + 1] = k end
    table.sort(names)
    text = table.concat(names, " ")
  end
  return text
end
print(shown(200))

-- A metatable that changes between.
local D = {}
D.__index = D
local function change(n)
  local s = 0
  for i = 1, n do
    if i == 250 then D.__newindex = function(t, k, v) rawset(t, k, v * 2) end end
    local o = setmetatable({}, D)
    init(o, i, 1)
    s = s + o.x + o.y
  end
  return s
end
print(change(300))

-- Many fields, more than there is room for.
local function many(o, i)
  o.a, o.b, o.c, o.d, o.e, o.f, o.g, o.h, o.i, o.j = i, 1, 2, 3, 4, 5, 6, 7, 8, 9
end
local function large(n, keep)
  local s, last = 0, nil
  for i = 1, n do
    local o = setmetatable({}, C)
    many(o, i)
    s = s + o.a + o.j
    if i == keep then last = o end
  end
  return s, last
end
print(large(300), select(2, large(300, 300)).j)

-- A coroutine that yields in the function that initializes.
local function slow(o, x)
  o.x = x
  coroutine.yield(x)
  o.y = x + 1
end
local co = coroutine.wrap(function()
  local s = 0
  for i = 1, 100 do
    local o = setmetatable({}, C)
    slow(o, i)
    s = s + o:sum()
  end
  return s
end)
for _ = 1, 100 do co() end
print(co())

-- Exits while objects are not allocated: after the stores, between them, and in nested functions.
local probe = { v = 1 }
local function steps(o, x)
  o.x = x
  o.step = probe.v
  o.y = o.step + 1
end
local function make(x)
  local o = setmetatable({}, C)
  steps(o, x)
  return o
end
local function after(n)
  local s = 0
  for i = 1, n do
    local o = new(i, 2)
    s = s + o.x + probe.v + o.y
  end
  return s
end
local function inside(n)
  local s = 0
  for i = 1, n do
    local o = make(i)
    s = s + o.x * o.step + o.y
  end
  return s
end
local function both(n)
  local s = 0
  for i = 1, n do
    local o = setmetatable({ first = i }, C)
    local before = probe.v
    mark(o, i)
    init(o, before, i)
    s = s + o.first + probe.v + o.marked + o.x + o.y
  end
  return s
end
local through = setmetatable({}, { __index = { v = 3 } })
local probes = { probe, { a = 1, v = 2 }, { a = 1, b = 2, v = 0.5 }, through }
for round = 1, 8 do
  probe = probes[(round + 1) // 2]
  print(after(120), inside(120), both(120))
end
