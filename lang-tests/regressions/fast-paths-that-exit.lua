-- Accesses whose fast paths the optimizing compiler takes alone: where they have no answer, code
-- exits before the instruction, and what was known of tables is not taken for granted after a
-- store that may change their form.
-- expect: ok
--| global	41	43	nil
--| env	1	2	1
--| shape	1	7	nil	9
--| len	3	5	2	3
--| eq	true	false	true	true	false
--| class	a	b	a	b
--| set	20	computed
--| captured	30	33
--| nil	120	nil	120	600	6000

-- Globals: stored by name and through _G between loads, absent at last.
counter = 0
local function bump(how)
  local before = counter
  if how == 1 then
    counter = counter + 1
  elseif how == 2 then
    _G["coun" .. "ter"] = counter + 1
  elseif how == 3 then
    rawset(_G, "counter", counter + 1)
  else
    counter = nil
  end
  return before, counter
end
local before, after
for i = 1, 120 do
  before, after = bump(i % 3 + 1)
end
counter = 40
local _, one = bump(1)
local _, two = bump(2)
local _, three = bump(3)
local _, none = bump(4)
print("global", one, three, none)

-- The environment itself is a variable.
local function swap(first, second)
  local _ENV = first
  local a = x
  _ENV = second
  local b = x
  _ENV = first
  return a, b, x
end
local a, b, c
for _ = 1, 80 do
  a, b, c = swap({ x = 1 }, { x = 2 })
end
print("env", a, b, c)

-- A key that is computed names a field whose slot is known, or gives the table another shape.
local function change(t, key, value)
  local old = t.a
  t[key] = value
  return old, t.a, t.b
end
local old, new, other
for i = 1, 90 do
  old, new, other = change({ a = 1 }, i % 2 == 0 and "a" or "b", 7)
end
local _, _, added = change({ a = 1 }, "b", 9)
old, new, other = change({ a = 1 }, "a", 7)
print("shape", old, new, other, added)

-- Lengths of plain tables, of objects, of strings, and by a metamethod.
local function length(v) return #v end
local object = setmetatable({ 1, 2 }, { __index = {} })
local counted = setmetatable({}, { __len = function() return 3 end })
local l = {}
for _ = 1, 60 do
  l[1], l[2], l[3] = length({ 1, 2, 3 }), length("abcde"), length(object)
end
print("len", l[1], l[2], l[3], length(counted))

-- Integers against floats, at the borders of what a float can say.
local function equal(x, y) return x == y end
local e = {}
for _ = 1, 60 do
  e[1], e[2], e[3] = equal(1, 1.0), equal(1, 1.5), equal(2.0 ^ 53, 1 << 53)
  e[4] = equal(math.mininteger, -2.0 ^ 63)
  e[5] = equal(math.maxinteger, 2.0 ^ 63)
  assert(not equal(0, 0 / 0) and not equal(1 / 0, math.maxinteger))
  assert(not equal((1 << 53) + 1, 2.0 ^ 53) and equal(0, -0.0))
end
print("eq", e[1], e[2], e[3], e[4], e[5])

-- A class that is given to an object that has one already.
local A, B = { name = "a" }, { name = "b" }
local function of_class(first, second)
  local o = setmetatable({}, { __index = first })
  local before = o.name
  setmetatable(o, { __index = second })
  return before, o.name, getmetatable(o).__index.name
end
local p, q, r
for _ = 1, 70 do
  p, q = of_class(A, B)
end
r = { of_class(B, A) }
print("class", p, q, r[3], (of_class(B, A)))
assert(not pcall(setmetatable, setmetatable({}, { __metatable = 1 }), { __index = A }))

-- A store that a metamethod takes.
local log
local watched = setmetatable({}, { __newindex = function(_, k) log = k end })
local function store(t, k, v) t[k] = v end
local plain = {}
for i = 1, 80 do
  store(plain, "k" .. i % 3, i)
  store(plain, i % 20 + 1, i)
end
store(watched, "computed", 1)
print("set", #plain, log)

-- Results that closures share.
local function shared(t)
  local v = 0
  local function get() return v end
  local sum = 0
  for _, k in ipairs({ "x", "y", "z" }) do
    v = t[k]
    sum = sum + get()
    v = t.x
    sum = sum + get() - v
  end
  return sum
end
local s
for _ = 1, 60 do
  s = shared({ x = 5, y = 10, z = 15 })
end
print("captured", s, shared({ x = 8, y = 11, z = 14 }))

-- Fields that are added as nil, and functions that are inlined one after the other at one register.
local function with_nil(v)
  local o = { a = v }
  o.b = nil
  o.c = v
  return o
end
local o
for i = 1, 120 do o = with_nil(i) end
local function counter() local _ENV = { n = 0 } return function(v) n = n + v return n end end
local by_one, by_ten = counter(), counter()
local function both(k)
  local a, b = 0, 0
  for _ = 1, k do a = by_one(1) b = by_ten(10) end
  return a, b
end
for _ = 1, 59 do both(10) end
print("nil", o.a, o.b, o.c, both(10))
