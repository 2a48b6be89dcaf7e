-- Tables of constructors have their fields inline until they gain one that has no room there, which
-- code that was compiled before must notice (2.1).
-- expect: ok
--| inline	135450
--| both	334510
--| wide	397390
--| metatable	830225	36
--| called	991425
--| loop	1144445
--| others	1238095
--| kept	10792

local function point(x, y) return { x = x, y = y } end

local function sum(p) return p.x + p.y end

local function shift(p, d)
  p.x = p.x + d
  p.y = p.y - d
  return p
end

local function gain(p, z)
  p.z = z
  return p
end

local total = 0
for i = 1, 300 do
  local p = point(i, 2 * i)
  total = total + sum(shift(p, 3))
end
print("inline", total)

-- The same functions on tables that have moved their fields, and on both in turns.
for i = 1, 300 do
  local p = point(i, i)
  if i % 3 == 0 then gain(p, i) end
  total = total + sum(shift(p, i)) + (p.z or 0)
  if i % 5 == 0 then gain(p, -i) end
  shift(p, 1)
  total = total + p.x + (p.z or 1)
end
print("both", total)

-- Fields that are gained one after the other, so that the room is doubled several times.
local function widen(p, n)
  for i = 1, n do p["f" .. i] = i end
  return p
end
local function wide(p)
  p.a = 1 p.b = 2 p.c = 3 p.d = 4 p.e = 5 p.f = 6 p.g = 7 p.h = 8 p.i = 9
  return p
end
for i = 1, 200 do
  local p = wide(point(i, i))
  total = total + p.x + p.a + p.i + sum(p)
  if i % 50 == 0 then
    widen(p, 20)
    total = total + p.f20 + p.y
  end
end
print("wide", total)

-- With a metatable before or after, which may be taken away again.
local class = {}
class.__index = class
function class.get(self) return self.x end
local function object(i, n)
  local o = { x = i, y = n }
  if i % 2 == 0 then setmetatable(o, class) end
  if i % 3 == 0 then o.extra = i end
  if i % 2 == 1 then setmetatable(o, class) end
  if i % 7 == 0 then o.more = n end
  if i % 11 == 0 then setmetatable(o, nil) end
  return o
end
local count = 0
for i = 1, 400 do
  local o = object(i, i + 1)
  total = total + sum(o) + (o.extra or 0) + (o.more or 0)
  if getmetatable(o) then total = total + o:get() else count = count + 1 end
  o.late = 1
  total = total + sum(shift(o, o.late))
end
print("metatable", total, count)

-- What is read again after a call that makes the table outgrow its room.
local function twice(p, f)
  local before = p.x
  f(p)
  p.x = p.x + 1
  return before + p.x + p.y
end
local function nothing() end
for i = 1, 400 do
  total = total + twice(point(i, 1), i % 4 == 0 and gain or nothing)
end
print("called", total)

-- In a loop that keeps what it knows of the table.
local function fill(p, n, at)
  local s = 0
  for i = 1, n do
    s = s + p.x + p.y
    p.x = s % 100
    if i == at then p.w = i end
  end
  return s, p.w
end
for i = 1, 60 do
  local s, w = fill(point(i, 2), 50, i % 3 == 0 and 25 or 0)
  total = total + s + (w or 0)
end
print("loop", total)

-- Tables without a constructor's fields, and a constructor with more than have room inline.
local function late(i)
  local t = {}
  t.x = i
  t.y = i
  return t
end
for i = 1, 200 do
  total = total + sum(late(i)) + sum(point(i, i))
end
local names = {}
for i = 1, 80 do names[#names + 1] = "k" .. i .. " = " .. i end
local large = load("return function() return {" .. table.concat(names, ", ") .. "} end")()
for i = 1, 100 do
  local t = large()
  t.x, t.y = i, 1
  total = total + sum(t) + t.k1 + t.k80
end
print("others", total)

-- Kept while collections run.
local kept = {}
for i = 1, 200 do
  local p = point(i, "s" .. i)
  if i % 2 == 0 then p.z = { i } end
  kept[i] = p
  if i % 40 == 0 then collectgarbage() end
end
local strings = 0
for i = 1, 200 do
  local p = kept[i]
  strings = strings + #p.y + (p.z and p.z[1] or 0)
end
print("kept", strings)
