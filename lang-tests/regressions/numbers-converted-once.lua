-- Machine code converts a float that is used as a key several times to an integer once, and a
-- number of unknown kind to a float once; on paths where that was not done it is done later.
-- expect: ok
--| swap	4200
--| swap	4200
--| swap	4200
--| paths	165750
--| paths	165750
--| paths	165750
--| entered	146500
--| entered	146500
--| entered	146500
--| scale	1023.48214 float
--| scale	1505.625 float
--| scale	1987.76786 float
--| scale	2469.91071 float
--| scale	2952.05357 float
--| true	7
--| true	35
--| true	-2
--| true	-6
--| false	attempt to perform arithmetic on a nil value (local 'sum')
--| true	3001
--| true	-60
--| false	table index is NaN
--| true	1
--| true	4
--| true	-11
--| false	attempt to perform arithmetic on a nil value (field '?')
--| true	-22
--| true	-6.25871674e+18 float
--| false	attempt to perform arithmetic on a table value (local 'v')
--| true	6.48214286 float

local function new(n)
  local t = {}
  for i = 1, n do t[i] = i * 10 end
  return t
end

-- The same key for loads and stores.
local function swap(a, b, at)
  local key = at / 2 + 1
  a[key], b[key] = b[key], a[key]
  return a[key] - b[key]
end

-- Converted on one path, on both, and in a loop.
local function paths(t, at, which)
  local key = at / 2
  local sum = 0
  if which == 1 then
    sum = t[key]
  elseif which == 2 then
    sum = -t[key]
  end
  for _ = 1, 3 do
    if which ~= 3 then sum = sum + (t[key] or 1000) end
  end
  return sum + (t[key] or 1)
end

-- Loops that are entered at several places.
local function entered(t, at, inside)
  local key, sum, n = at / 2, 0, 0
  if inside then goto middle end
  ::start::
  sum = sum + t[key]
  ::middle::
  sum = sum + t[key] * 2
  n = n + 1
  if n < 4 then goto start end
  return sum
end

-- Numbers of both kinds.
local function scale(t, factor, by)
  local sum = 0
  for i = 1, #t do
    local v = t[i]
    sum = sum + v * 0.5 + v / 3
    if i % 2 == 0 then v = factor end
    sum = sum + v * 0.25 + factor / 7 + by * 1.5
    factor = i % 3 == 0 and factor + 1 or factor + 0.5
  end
  return string.format("%.9g %s", sum, math.type(factor))
end

local a, b = new(20), new(20)
for i = 1, 20 do b[i] = -b[i] end
for round = 1, 300 do
  local total = 0
  for at = 0, 38, 2 do total = total + swap(a, b, at) end
  if round % 100 == 0 then print("swap", total) end
end

local t = new(50)
for round = 1, 300 do
  local total = 0
  for which = 1, 4 do
    for at = 2, 100, 2 do total = total + paths(t, at, which) end
  end
  if round % 100 == 0 then print("paths", total) end
end

for round = 1, 300 do
  local total = 0
  for at = 2, 100, 2 do total = total + entered(t, at, at % 4 == 0) end
  if round % 100 == 0 then print("entered", total) end
end

local mixed = {}
for i = 1, 30 do mixed[i] = i % 4 == 0 and i / 4 or i end
for round = 1, 300 do
  local result = scale(mixed, round, round % 2 == 0 and 2 or 2.5)
  if round % 60 == 0 then print("scale", result) end
end

-- Keys that are no integers, out of range, or not numbers.
local function try(f, ...)
  local ok, result = pcall(f, ...)
  print(ok, ok and result or (result:gsub("^.-:%d+: ", "")))
end
t[1.5], t[2 ^ 53] = -1, -2
try(paths, { [1.5] = 7 }, 3, 3)
try(paths, { [1.5] = 7 }, 3, 1)
try(paths, t, 2 ^ 54, 3)
try(paths, t, 2 ^ 54, 2)
try(paths, t, 5, 1)
try(paths, t, 1e300, 4)
try(swap, a, b, "4")
try(swap, { 1, 2, 3 }, { 4, 5, 6 }, 0 / 0)
try(swap, { [-3] = 1 }, { [-3] = 2 }, -8)
try(swap, { [0] = 1 }, { [0] = 5 }, -2.0)
try(entered, t, 3, true)
try(entered, t, 7, false)
try(entered, t, 2 ^ 54, true)
try(scale, { 1, 2.5, 3 }, math.mininteger, 0)
try(scale, { 1, {} }, 1, 1)
try(scale, { 1, "2" }, 1, 1)
