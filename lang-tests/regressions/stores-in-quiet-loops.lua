-- expect: ok
--| 2680	11
--| 1060	11
--| 344	330
--| 1050
--| -1393
--| 5109
--| -733
--| 4119
--| -453	-453
--| 1275	3495
--| 3388	30
--| 4290	-7050	6000
--| 1635	30	30
--| 2475	30	30
--| 1425	30	30
-- Loops that store to fields keep what they know of other fields, of shapes and of methods: but not
-- of the fields that they store to, by whatever name the table is known.
local function alias(a, b, n)
  local s = 0
  for i = 1, n do
    a.x = i
    s = s + b.x * 3 + b.y
    if i % 4 == 0 then b.y = b.y + 1 end
  end
  return s, a.y
end
for _ = 1, 60 do alias({ x = 1, y = 2 }, { x = 5, y = 2 }, 40) end
local t = { x = 0, y = 1 }
print(alias(t, t, 40))
print(alias(t, { x = 7, y = 1 }, 40))

-- a table gains a field in the loop, under another name
local function gains(a, b, n)
  local s = 0
  for i = 1, n do
    if i == n // 2 then a.extra = i end
    s = s + (b.extra or 1) + b.x
  end
  return s
end
for _ = 1, 60 do gains({ x = 1 }, { x = 2 }, 30) end
t = { x = 3 }
print(gains(t, t, 30), gains({ x = 1 }, setmetatable({ x = 2 }, { __index = { extra = 9 } }), 30))

-- methods that objects get themselves, that classes change, and that setmetatable changes
local function class(k)
  local C = {}
  C.__index = C
  function C:get() return self.v + k end
  return C
end
local A, B = class(1), class(100)
local function new(C) return setmetatable({ v = 1 }, C) end
local function own(self) return -self.v end
local function calls(o, p, n, at, change)
  local s = 0
  for i = 1, n do
    o.v = o.v + 1
    s = s + o:get()
    if i == at then change(p) end
    s = s + o:get()
  end
  return s
end
local function nothing() end
for _ = 1, 60 do calls(new(A), new(A), 30, 100, nothing) end
local o = new(A)
print(calls(o, o, 30, 100, nothing))
print(calls(o, o, 30, 10, function(p) p.get = own end))
o = new(A)
print(calls(o, o, 30, 10, function(p) setmetatable(p, B) end))
o = new(A)
print(calls(o, A, 30, 10, function(p) p.get = own end))
local function in_loop(o, p, C, n)
  local s = 0
  for i = 1, n do
    o.v = o.v + 1
    s = s + o:get()
    if i == n // 2 then setmetatable(p, C) end
    s = s + o:get()
  end
  return s
end
A = class(1)
for _ = 1, 60 do in_loop(new(A), new(A), A, 30) end
o = new(A)
print(in_loop(o, o, B, 30))
local function shadows(o, p, n)
  local s = 0
  for i = 1, n do
    o.v = o.v + 1
    s = s + o:get()
    if i == n // 2 then p.get = own end
    s = s + o:get()
  end
  return s
end
for _ = 1, 60 do shadows(new(A), new(A), 30) end
o = new(A)
print(shadows(o, o, 30), shadows(new(A), A, 30))

local function marks(o, all)
  local s = 0
  for i = 1, #all do
    o.v = o.v + 1
    s = s + o:get()
    all[i].get = own
  end
  return s
end
local function objects(n)
  local all = {}
  for i = 1, n do all[i] = new(B) end
  return all
end
for _ = 1, 60 do marks(new(B), objects(30)) end
o = new(B)
local all = objects(30)
all[15] = o
print(marks(o, all), marks(new(B), objects(30)))

-- a field becomes nil: the metatable is asked
local function clears(o, p, n)
  local s = 0
  for i = 1, n do
    s = s + o.w
    if i % 8 == 0 then p.w = nil else p.w = i end
  end
  return s
end
local D = { __index = { w = 1000 } }
for _ = 1, 60 do clears(setmetatable({ w = 1 }, D), setmetatable({ w = 1 }, D), 30) end
o = setmetatable({ w = 1 }, D)
print(clears(o, o, 30), rawget(o, "w"))

-- many fields
local wide, other = {}, {}
for i = 1, 90 do wide["f" .. i], other["f" .. i] = i, -i end
local function last(a, b, n)
  local s = 0
  for i = 1, n do
    a.f90 = i
    s = s + b.f90 + b.f64 + b.f80 + b.f1
    a.f64 = i * 2
    if i % 3 == 0 then a.f1 = i end
  end
  return s
end
for _ = 1, 60 do last(wide, other, 30) end
print(last(wide, wide, 30), last(wide, other, 30), last(other, wide, 30))

-- stores in functions that are inlined in the loop, and by operators
local V = {}
V.__index = V
V.__add = function(a, b) a.n = a.n + 1 return a.x + b.x end
local function bump(p) p.x = p.x + 1 end
local function sums(a, b, n)
  local s = 0
  for i = 1, n do
    s = s + b.x
    bump(a)
    s = s + (a + b)
  end
  return s, a.n, b.n
end
local function vector(x) return setmetatable({ x = x, n = 0 }, V) end
for _ = 1, 60 do sums(vector(1), vector(2), 30) end
o = vector(3)
print(sums(o, o, 30))
print(sums(vector(1), o, 30))
V.__add = function(a, b) return a.x - b.x end
print(sums(o, o, 30))
