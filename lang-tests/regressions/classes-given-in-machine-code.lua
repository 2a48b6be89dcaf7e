-- Tables that are given a class, `setmetatable(o, {__index = C})`, in machine code: fields that the
-- table lacks are those of the class from then on, whatever kind of table it is.
-- expect: ok
--| 1	true
local A = {name = "A", size = function() return 1 end}
local B = setmetatable({name = "B"}, {__index = A})
local function plain(x) local o = {x = x} return setmetatable(o, {__index = A}) end

-- a field that is nil before the class is given, and the class's afterwards
local function before_and_after(x)
  local o = {x = x, name = nil}
  local before = o.name
  setmetatable(o, {__index = A})
  return before, o.name, o.x
end

-- a class, then another one; other tables of the shape keep theirs
local function twice(x, y)
  local o, p = plain(x), {x = y}
  setmetatable(o, {__index = B})
  setmetatable(p, {__index = o})
  return o.name, p.name, p.x, rawget(p, "name")
end

-- a class that no table had before, and one that changes afterwards
local function new_class(n)
  local C = {n = n}
  local o = setmetatable({}, {__index = C})
  C.n = n + 1
  C.m = -n
  return o.n, o.m
end

-- tables of many kinds: with real metatables, protected, with many fields, with elements
local function any(o) local p = o return setmetatable(p, {__index = A}) end
local function kinds(n)
  local mt = {__index = B, __len = function() return 42 end}
  local o = setmetatable({}, mt)
  local len = #o
  any(o)
  local refused = setmetatable({}, {__metatable = "no"})
  if n % 20 ~= 0 then return len, #o, "A", 70, "A", 3, pcall(any, refused) end
  local many = {}
  for i = 1, 70 do many["f" .. i] = i end
  any(many)
  local list = any({n, n, n})
  return len, #o, many.name, many.f70, list.name, #list, pcall(any, refused)
end

-- old tables, given classes while the collector marks
local old = {}
for i = 1, 50 do old[i] = {x = i} end
local function ages(n)
  local o = old[n % 50 + 1]
  local C = {tag = n}
  setmetatable(o, {__index = C})
  local p = {o, o, n}
  return o.tag == n and p[1].tag == n
end

-- the global environment gets a class in between reads of globals
local function environment(n)
  local env = {A = A, setmetatable = setmetatable}
  local _ENV = env
  local a = missing
  setmetatable(env, {__index = {missing = n}})
  return a, missing, A.name
end

for round = 1, 120 do
  local b, a, x = before_and_after(round)
  assert(b == nil and a == "A" and x == round)
  local n1, n2, x2, raw = twice(round, -round)
  assert(n1 == "B" and n2 == "B" and x2 == -round and raw == nil)
  local n, m = new_class(round)
  assert(n == round + 1 and m == -round)
  local len, len2, name, f, lname, llen, ok, why = kinds(round)
  assert(len == 42 and len2 == 0 and name == "A" and f == 70 and lname == "A" and llen == 3)
  assert(not ok and why:find("cannot change a protected metatable$"), why)
  assert(ages(round))
  local before, after, name = environment(round)
  assert(before == nil and after == round and name == "A")
  if round % 40 == 0 then collectgarbage(round % 80 == 0 and "generational" or "incremental") end
  if round % 50 == 0 then collectgarbage() end
end
for i = 1, 50 do assert(old[i].tag, i) end
print(plain(1):size(), getmetatable(plain(2)).__index == A)
