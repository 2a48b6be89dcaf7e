-- Loops keep what they have loaded of tables across calls of library functions that change none,
-- and load it again after calls of the others.
-- expect: ok
--| inserted	10100	100
--| removed	5050	0
--| classes	100	4950
--| strings	191	10 25 50 75
--| numbers	5050	5050	300
--| raw	5050	100	100
--| keys	4950	100

local insert, remove, setmetatable = table.insert, table.remove, setmetatable
local tostring, tonumber, select, rawget, sub = tostring, tonumber, select, rawget, string.sub

local function inserted(n)
  local t, s = {}, 0
  for i = 1, n do
    s = s + #t
    insert(t, i)
    s = s + #t + (t[i] - t[1])
    if s < 0 then return end
  end
  return s - (n - 1) * n // 2 + n, #t
end
local function removed(n)
  local t, s = {}, 0
  for i = 1, n do t[i] = i end
  for _ = 1, n do
    s = s + #t
    remove(t)
  end
  return s, #t
end
local Class = { value = function(self) return self.n end }
Class.__index = Class
local function classes(n)
  local t, found, s = {}, 0, 0
  for i = 0, n - 1 do
    t.n = i
    if t.value == nil then
      if i >= 0 then setmetatable(t, Class) end
      if t.value == Class.value then found = found + 1 end
      s = s + t:value()
    end
    t = {}
  end
  return found, s
end
local function strings(n)
  local t, length = { name = "" }, 0
  for i = 1, n do
    t.name = tostring(i)
    t[i] = sub(t.name .. "xyz", 1, -4)
    length = length + #t.name
    if t[i] ~= t.name then return i end
  end
  return length - 1, t[10] .. " " .. t[25] .. " " .. t[50] .. " " .. t[75]
end
local function numbers(n)
  local t, s, u, count = { of = 1 }, 0, 0, 0
  for i = 1, n do
    s = s + tonumber(tostring(i)) * t.of
    u = u + select(2, t.of, i, n)
    count = count + select("#", s, u, i)
  end
  return s, u, count
end
local function raw(n)
  local t, s, same, whole = { of = 1 }, 0, 0, 0
  for i = 1, n do
    t[i] = i
    s = s + rawget(t, i) * t.of
    if rawequal(t[i], rawget(t, i)) then same = same + 1 end
    if math.type(t[i]) == "integer" and math.tointeger(t[i] + 0.0) == i then whole = whole + 1 end
  end
  return s, same, whole
end
local function keys(n)
  local t = { 1 }
  for i = 1, n do t["k" .. i] = i - 1 end
  t[1] = nil
  local s, count, k = 0, 0, next(t)
  while k do
    s, count = s + t[k], count + 1
    k = next(t, k)
  end
  return s, count
end

local function check(name, f)
  local a, b, c
  for _ = 1, 60 do a, b, c = f(100) end
  if c then print(name, a, b, c) else print(name, a, b) end
end
check("inserted", inserted)
check("removed", removed)
check("classes", classes)
check("strings", strings)
check("numbers", numbers)
check("raw", raw)
check("keys", keys)
