-- The order of next and pairs, which the manual leaves open (6.1): integer keys in
-- ascending order, then other keys in insertion order, fields of a constructor before other types.
-- expect: ok
--| 0 1 2 3
--| -2 -1 0 1 2 3
--| 3 4 5
--| 0 1 2 zebra apple mango
--| -9223372036854775808 x 10 20 30 9223372036854775807
--| 50 100 true 2.5 false
--| tango alpha kilo bravo zulu echo
--| tango kilo bravo zulu echo mike alpha
--| -3 0 3 7 tango kilo bravo zulu echo mike alpha
--| 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40
--| 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40
--| o1 o2 o3 o4 o5 o6 o7 o8 o9 o10 o11 o12 o13 o14 o15 o16 o17 o18 o19 o20
--| one two three 1.5 four
--|
--| -1 0 1 2 x 10
--| 300
-- skip(puc): its order differs
local function keys(t)
  local out = {}
  for k in pairs(t) do out[#out + 1] = tostring(k) end
  -- next agrees
  local k, i = next(t), 1
  while k ~= nil do
    assert(tostring(k) == out[i])
    k, i = next(t, k), i + 1
  end
  assert(i == #out + 1)
  return table.concat(out, " ")
end

local function all()
  local lines = {}
  local function show(t) lines[#lines + 1] = keys(t) end
  show {[0] = "January", [1] = "February", [2] = "March", [3] = "April"}
  show {[3] = 1, [2] = 1, [1] = 1, [0] = 1, [-1] = 1, [-2] = 1}
  show {[5] = 1, [3] = 1, [4] = 1}
  show {zebra = 1, apple = 2, [0] = 0, 10, 20, mango = 3}
  show {[30] = 1, [10] = 1, [20] = 1, [math.maxinteger] = 1, [math.mininteger] = 1, x = 1}
  show {[true] = 1, [2.5] = 1, [100] = 1, [false] = 1, [50] = 1}

  -- computed names
  local t = {}
  for _, name in ipairs {"tango", "alpha", "kilo", "bravo", "zulu", "echo"} do t[name] = true end
  show(t)
  t.alpha = nil
  collectgarbage()
  t.mike = 1
  t.alpha = 1
  show(t)
  t[0], t[7], t[-3], t[3] = 1, 1, 1, 1
  show(t)

  -- appended from 0
  t = {}
  for i = 0, 40 do t[i] = i end
  show(t)
  t = {}
  for i = 40, 0, -1 do t[i] = i end
  show(t)
  -- with objects for keys
  t = {}
  local names = {}
  for i = 1, 20 do
    local object = setmetatable({}, {__tostring = function() return "o" .. i end})
    t[object] = i
    names[i] = object
  end
  show(t)
  -- fields that become computed names
  t = {one = 1, two = 2, three = 3}
  t[1.5] = 1
  t["f" .. "our"] = 4
  show(t)
  -- clearing
  for k in pairs(t) do t[k] = nil end
  show(t)
  t = {[0] = 1, 2, 3, [-1] = 4, x = 5, [10] = 6}
  local seen = {}
  for k in pairs(t) do
    seen[#seen + 1] = tostring(k)
    t[k] = nil
    collectgarbage("step")
  end
  lines[#lines + 1] = table.concat(seen, " ")
  assert(next(t) == nil)
  return table.concat(lines, "\n")
end

local first = all()
for i = 1, 8 do assert(all() == first) end
print(first)

-- More keys than are sorted at each traversal.
local t, n = {}, 0
for i = 1, 300 do t[i * 7919 % 50021 * 16] = i end
local last = math.mininteger
for k in pairs(t) do
  assert(k > last)
  last, n = k, n + 1
end
print(n)
