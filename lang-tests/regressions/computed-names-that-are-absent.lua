-- expect: ok
--| 20	0	10
--| 30	10	20
--| 20	0	10
--| 30	10	20
--| 50	30	40
--| 30	10	20
--| 30	10	20	290
--| 30	10	20
--| 10	30	30	0
--| 20
-- Fields whose names are computed, of tables that do not have them: with a shape, without one,
-- empty ones, with metatables, and with long names, which are compared by their contents.
local words = {}
for i = 1, 12 do words[i] = "w" .. i end
local function count(t, n)
  local c = 0
  for _ = 1, n do
    for i = 1, #words do
      if t[words[i]] then c = c + 1 end
    end
  end
  return c
end
local record, empty, dictionary = { w1 = 1, w5 = false, w9 = 3 }, {}, {}
for i = 1, 100 do dictionary["d" .. i] = i end
dictionary.w3 = 1
for _ = 1, 20 do count(record, 5) count(empty, 5) count(dictionary, 5) end
print(count(record, 10), count(empty, 10), count(dictionary, 10))

-- fields that come, go and come again
record.w2, empty.w2, dictionary.w2 = 1, 1, 1
print(count(record, 10), count(empty, 10), count(dictionary, 10))
record.w1, empty.w2, dictionary.w3 = nil, nil, nil
print(count(record, 10), count(empty, 10), count(dictionary, 10))
record.w1, empty.w2, dictionary.w3 = 1, 1, 1
print(count(record, 10), count(empty, 10), count(dictionary, 10))

-- metatables
local base = { w4 = 1, w6 = 1 }
for _, t in ipairs({ record, empty, dictionary }) do setmetatable(t, { __index = base }) end
print(count(record, 10), count(empty, 10), count(dictionary, 10))
for _, t in ipairs({ record, empty, dictionary }) do getmetatable(t).__index = nil end
print(count(record, 10), count(empty, 10), count(dictionary, 10))
local asked = 0
for _, t in ipairs({ record, empty, dictionary }) do
  getmetatable(t).__index = function() asked = asked + 1 end
end
print(count(record, 10), count(empty, 10), count(dictionary, 10), asked)
for _, t in ipairs({ record, empty, dictionary }) do setmetatable(t, nil) end
print(count(record, 10), count(empty, 10), count(dictionary, 10))

-- long names
local long = string.rep("x", 100)
local holders = { { [long] = 1 }, { a = 1, [long] = 2 }, {} }
for i = 1, 30 do holders[3]["d" .. i] = i end
holders[3][long] = 3
local function find(t, n)
  local c = 0
  for i = 1, n do
    local name = i % 2 == 0 and string.rep("x", 100) or "a"
    c = c + (t[name] or 0)
  end
  return c
end
for _ = 1, 30 do
  for _, t in ipairs(holders) do find(t, 10) end
end
print(find(holders[1], 20), find(holders[2], 20), find(holders[3], 20), find({}, 20))

-- names whose memory is used again
local function churn(n)
  local t, found = { k1 = true, k2 = true }, 0
  for i = 1, n do
    if t["k" .. i % 700] then found = found + 1 end
    if i % 500 == 0 then collectgarbage("step", 100) end
  end
  return found
end
print(churn(7000))
