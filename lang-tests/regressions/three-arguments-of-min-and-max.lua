-- expect: ok
--| 4413
--| 900.0
--| 9
--| 1	integer	3	integer	1.0	0.33333333333333
--| 1	integer	1	integer	1.0	1.0
--| 1.0	float	1.0	float	1.0	1.0
--| 0.0	float	0.0	float	inf	inf
--| -0.0	float	-0.0	float	-inf	-inf
--| 0	integer	0	integer	inf	inf
--| nan	float	nan	float	nan	nan
--| 1	integer	2	integer	1.0	0.5
--| 1	integer	2	integer	1.0	0.5
--| -inf	float	inf	float	-0.0	0.0
--| -9223372036854775808	integer	9.2233720368548e+18	float	-1.0842021724855e-19	1.0842021724855e-19
--| 9.007199254741e+15	float	9223372036854775807	integer	1.1102230246252e-16	1.0842021724855e-19
--| 9.007199254741e+15	float	9007199254740995	integer	1.1102230246252e-16	1.1102230246252e-16
--| error	attempt to compare number with string
--| error	attempt to compare string with number
--| error	attempt to compare string with number
--| error	attempt to compare nil with number
--| error	attempt to compare nil with number
--| error	attempt to compare table with number
-- math.min and math.max of three numbers: integers, floats, mixtures, equal ones, and others.

local min, max = math.min, math.max
local function of(a, b, c) return min(a, b, c), max(a, b, c) end
local function show(...)
  local ok, a, b = pcall(of, ...)
  if not ok then return print("error", (a:gsub("^.-:%d+: ", ""))) end
  local function text(x) return x ~= x and "nan" or tostring(x) end
  print(text(a), math.type(a), text(b), math.type(b), text(1 / a), text(1 / b))
end

local s = 0
for i = 1, 3000 do s = (s + min(i % 7, i % 11, 5) + max(i % 5, 2, s % 3)) % 10007 end
print(s)
local f = 0.5
for i = 1, 3000 do f = (f + min(i * 0.5, f, 99.5) + max(1.5, f, i % 3 + 0.25)) % 1009.5 end
print(f)

-- the tables of an edit distance
local function distance(a, b)
  local previous, current = {}, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    current[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      current[j] = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
    end
    previous, current = current, previous
  end
  return previous[#b]
end
local d
for _ = 1, 30 do d = distance("kitten sitting on the mat", "sitting kitten in the mist") end
print(d)

for _ = 1, 200 do of(1, 2, 3) of(1.5, 2, 3.0) end
show(3, 1, 2)
show(1, 1.0, 1)
show(1.0, 1, 1.0)
show(0.0, -0.0, 0)
show(-0.0, 0, 0.0)
show(0, -0.0, 0.0)
show(0 / 0, 1, 2)
show(1, 0 / 0, 2)
show(1, 2, 0 / 0)
show(math.huge, -math.huge, 0)
show(math.maxinteger, math.maxinteger + 0.0, math.mininteger)
show(math.maxinteger - 1, 2 ^ 53, math.maxinteger)
show(2 ^ 53 | 1, 2.0 ^ 53, 2 ^ 53 | 3)
show("10", 9, 8)
show(9, "10", 8.5)
show(9, 8, "x")
show(1, nil, 2)
show(1, 2)
show(1, 2, {})
