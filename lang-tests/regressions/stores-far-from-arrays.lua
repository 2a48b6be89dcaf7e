-- Stores to integer keys far from the array part: in loops that hold values across the call, with
-- keys that come into the array later, with metatables, nil, and collections.
-- expect: ok
--| 11	333520	nil
--| 21	-210	11.0
--| 12	78	6.5
--| 44	333388	12
--| 12	78	6.5
--| 44	333310	text
--| 33	-210	text
--| 9	6300	5.0
--| 9	6300	5.0
--| 9	9	6300	nil
--| 86920
--| false	refused

local function fill(t, from, to, step, value)
  local count, sum, half = 0, 0, 0.5
  for key = from, to, step do
    t[key] = value or key
    count, sum, half = count + 1, sum + key, half + 0.5
  end
  return count, sum, half
end

local function total(t)
  local n, sum = 0, 0
  for _, value in pairs(t) do
    n = n + 1
    if math.type(value) then sum = sum + value end
  end
  return n, sum, t[12]
end

local t = {}
for round = 1, 30 do
  t = {}
  fill(t, 1000 * round, 1000 * round + 640, 64)
end
print(total(t))
print(fill(t, -20, 0, 1))
print(fill(t, 12, 1, -1))
print(total(t))
print(fill(t, 1, 12, 1, "text"))
print(total(t))

-- nil far away, and over what is there
for key = 30000, 30640, 32 do t[key] = nil end
print(total(t))

-- a metatable that hears of new keys
local heard = 0
local watched = setmetatable({}, { __newindex = function(self, key, value)
  heard = heard + 1
  rawset(self, key, value)
end })
print(fill(watched, 500, 900, 50))
print(fill(watched, 500, 900, 50))
print(heard, total(watched))

-- objects, while the collector works
local objects = {}
for round = 1, 20 do
  for key = 100, 4100, 100 do objects[key] = { round + key } end
  collectgarbage("step")
end
local sum = 0
for key = 100, 4100, 100 do sum = sum + objects[key][1] end
print(sum)
print(pcall(fill, setmetatable({}, { __newindex = function() error("refused", 0) end }), 7, 9, 1))
