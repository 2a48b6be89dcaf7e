-- Values of two kinds are never equal, whichever kinds they are: compiled code tells numbers from
-- other pairs by the XOR of tags, which functions and coroutines, and functions of the library and
-- userdata, share with integers and floats.
-- expect: ok
--| 3	6
--| 27	334
--| 0	4
--| 0	4
--| 5	7
--| 3	6
--| 27	334
--| 0	4
--| 0	4
--| 5	7
--| 3	6
--| 27	334
--| 0	4
--| 0	4
--| 5	7
--| 3	6
--| 27	334
--| 0	4
--| 0	4
--| 5	7
--| 100

local function count(values, others)
  local equal, unequal = 0, 0
  for i = 1, #values do
    for j = 1, #others do
      if values[i] == others[j] then equal = equal + 1 end
      if values[i] ~= others[j] then unequal = unequal + 1 end
    end
  end
  return equal, unequal
end

local thread = coroutine.create(print)
local userdata = io.stdout
local object = setmetatable({}, {__eq = function() return true end})
local all = {
  false, true, 0, 1, 2.0, 1.0, 2^53, 1 << 53, "1", "", ("x"):rep(60), object, {}, count, print,
  thread, userdata, math.huge, -0.0,
}

for _ = 1, 4 do
  print(count({1, 2, 3}, {1, 2, 3}))
  print(count(all, all))
  print(count({count, print}, {thread, userdata}))
  print(count({thread, userdata}, {count, print}))
  print(count({1, 1.0, 2^53}, {1.0, 1, 1 << 53, 0.5}))
end

-- as a value, not as what a branch tests
local function same(a, b) return a == b end
local sum = 0
for _ = 1, 100 do
  for i = 1, #all do
    if same(all[i], all[#all + 1 - i]) then sum = sum + 1 end
  end
end
print(sum)
