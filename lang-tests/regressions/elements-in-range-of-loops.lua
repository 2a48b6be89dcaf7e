-- expect: ok
--| 106	8	0	7	10
--| 238.0	0.25	0.0	238.0
--| 383	67	0
--| 3	none	7
--| none	2
--| 205	1333	2723	563
--| 490.0	14	16
--| 3	10
--| 486
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:42: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:47: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:75: attempt to perform arithmetic on a nil value (field '?')
--| false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a nil value (field '?')
--| true	false	elements-in-range-of-loops.lua:37: attempt to perform arithmetic on a table value (field '?')
--| true	123
--| false	elements-in-range-of-loops.lua:96: attempt to perform arithmetic on a nil value (field '?')
--| 105
--| false	elements-in-range-of-loops.lua:96: attempt to perform arithmetic on a nil value (field '?')
--| 105.0	6.5	518.25	140.0
--| 1	860.0	106
--| 2.25 11.25 31.0 65.5 118.75 194.75 297.5 431.0
--| 2.25 11.25 0.0 65.5 118.75 194.75 297.5 431.0
--| false	elements-in-range-of-loops.lua:147: attempt to perform arithmetic on a nil value (field '?')
--| 2.25 11.25 0.0 89.0 118.75 194.75 297.5 431.0
-- Loops that count check once whether the elements that they load are in their arrays. Arrays are
-- too short or too long, indices have distances and steps, and loops end early or never run.

local function sum(t, from, to)
  local s = 0
  for i = from, to do s = s + t[i] end
  return s
end
local function steps(t, n)
  local s = 0.0
  for i = 1, n, 3 do s = s + t[i] * t[i] end
  return s
end
local function neighbors(t, n)
  local s = 0
  for i = 2, n - 1 do s = s + t[i - 1] * t[i + 1] - t[i] end
  return s
end
local function until_found(t, n, x)
  for i = 1, n do
    if t[i] == x then return i end
  end
  return "none"
end
local function assigned(t, n)
  local s = 0
  for i = 1, n do
    s = s + t[i]
    i = i + 1
    if i <= n then s = s + t[i] end
  end
  return s
end
local function other(t, u, n)
  local s = 0
  for i = 1, n do
    s = s + t[i]
    if i == 5 then t = u end
  end
  return s
end
local function product(a, b, n)
  local s = 0.0
  for j = 1, n do s = s + a[j] * b[n - j + 1] + b[j] end
  return s
end
local function scaled(t, n)
  for i = 1, n do t[i] = t[i] * 2 end
  return t[1], t[n]
end
local function swapped(t, n)
  for i = 1, n - 1 do
    if t[i] > t[i + 1] then t[i], t[i + 1] = t[i + 1], t[i] end
  end
  return t[1], t[n]
end
local function counted_down(t, n)
  local s = 0
  for i = n, 1, -1 do s = s * 3 % 1009 + t[i] end
  return s
end
local function shrinking(t, n)
  local s = 0
  for i = 1, n do
    s = s + t[i]
    if i == 3 then t[n] = nil end
  end
  return s
end

local ints, floats, long = {}, {}, {}
for i = 1, 20 do ints[i], floats[i] = i * 7 % 11, i / 2 end
for i = 1, 40 do long[i] = 100 - i end
local function fresh() return table.move(ints, 1, 20, 1, {}) end

for _ = 1, 120 do
  sum(ints, 1, 20) sum(ints, 3, 9) steps(floats, 20) neighbors(ints, 20)
  until_found(ints, 20, 10) assigned(ints, 20) other(ints, long, 20) product(floats, floats, 20)
  scaled(fresh(), 20) swapped(fresh(), 20) counted_down(ints, 20)
end
print(sum(ints, 1, 20), sum(ints, 20, 20), sum(ints, 5, 4), sum(ints, 1, 1), sum(ints, 1, 2))
print(steps(floats, 20), steps(floats, 1), steps(floats, 0), steps(floats, 19))
print(neighbors(ints, 20), neighbors(ints, 3), neighbors(ints, 2))
print(until_found(ints, 20, 10), until_found(ints, 20, 99), until_found(ints, 25, 5))
print(until_found(ints, 25, 99), until_found(ints, math.maxinteger, 3))
print(assigned(ints, 20), other(ints, long, 20), other(ints, long, 40), other(long, ints, 20))
print(product(floats, floats, 20), scaled(fresh(), 20))
print(swapped(fresh(), 20))
print(counted_down(ints, 20))
-- elements that are missing, at the end, at the beginning and in between
print(pcall(sum, ints, 1, 21))
print(pcall(sum, ints, 0, 20))
print(pcall(sum, ints, -3, 2))
print(pcall(sum, ints, 1, math.maxinteger))
print(pcall(sum, ints, math.mininteger, 2))
print(pcall(sum, ints, math.mininteger, math.maxinteger))
print(pcall(steps, floats, 22))
print(pcall(neighbors, ints, 21))
print(pcall(product, floats, ints, 21))
print(pcall(sum, {1, 2, nil, 4}, 1, 4))
print(pcall(sum, {1, 2, "3", 4}, 1, 4), pcall(sum, {1, 2, {}, 4}, 1, 4))
print(pcall(sum, setmetatable({1, 2}, {__index = function(_, i) return i * 10 end}), 1, 5))
print(pcall(shrinking, fresh(), 20))
for _ = 1, 120 do shrinking(setmetatable(fresh(), {__index = function() return 7 end}), 20) end
print(shrinking(setmetatable(fresh(), {__index = function() return 7 end}), 20))
print(pcall(shrinking, fresh(), 20))
-- the same code with arrays of other kinds, and the first ones again
print(sum(floats, 1, 20), sum({1, 2.5, 3}, 1, 3), neighbors(floats, 20), steps(ints, 20))
print(swapped({3.5, 1, 2}, 3), counted_down(floats, 20), sum(ints, 1, 20))

-- an outer loop whose inner loops have lengths of their own
local function rows(m, v)
  local out = {}
  for i = 1, #m do
    local row, s = m[i], 0.0
    for j = 1, #row do s = s + row[j] * v[j] end
    out[#out + 1] = s
  end
  return table.concat(out, " ")
end
local m = {}
for i = 1, 8 do
  m[i] = {}
  for j = 1, i do m[i][j] = i + j / 2 end
end
local v = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5}
for _ = 1, 100 do rows(m, v) end
print(rows(m, v))
m[3] = {}
print(rows(m, v))
m[4][9] = 1.0
for j = 5, 8 do m[4][j] = 0.5 end
print(pcall(rows, m, v))
v[9] = 9.5
print(rows(m, v))
