-- Large tables whose integer keys come in other orders than from 1 upwards: from the last to the
-- first, with strides, below zero, as a window, and between keys that are in the hash part.
-- expect: ok
--| reversed	3000	4501500
--| strided	6000	18003000
--| upwards	4000	true
--| downwards	4000	true
--| greatest	2000	true
--| window	300	0
--| both ends	3001	0
--| between	5000	12502500
--| next key	20	true
--| metamethod	1	nil	7
--| shrinks	0	10
--| booleans	3000	true

-- Returns the number of keys and the sum of the values.
local function sum(t)
  local count, total = 0, 0
  for k, v in pairs(t) do
    assert(t[k] == v)
    count, total = count + 1, total + v
  end
  return count, total
end

local function reversed()
  local t = {}
  for i = 3000, 1, -1 do t[i] = i end
  return sum(t)
end
print("reversed", reversed())

local function strided()
  local t = {}
  for offset = 1, 8 do
    for i = offset, 6000, 8 do
      assert(t[i] == nil)
      t[i] = i
    end
  end
  return sum(t)
end
print("strided", strided())

local function run(first, step, count)
  local t, key = {}, first
  for i = 1, count do
    t[key] = i
    assert(t[key - step] == (i > 1 and i - 1 or nil))
    key = key + step
  end
  local found, total = sum(t)
  return found, total == count * (count + 1) // 2
end
print("upwards", run(-7, 1, 4000))
print("downwards", run(-7, -1, 4000))
print("greatest", run(math.maxinteger, -1, 2000))

local function window()
  local t, first = {}, 1
  for i = 1, 20000 do
    t[i] = i
    if i - first >= 300 then
      assert(t[first] == first)
      t[first] = nil
      first = first + 1
    end
  end
  local count, total = sum(t)
  return count, total - (19701 + 20000) * 150
end
print("window", window())

local function both_ends()
  local t = {}
  t[0] = 0
  for i = 1, 1500 do t[i], t[-i] = i, -i end
  return sum(t)
end
print("both ends", both_ends())

local function between()
  local t = {}
  for i = 1, 5000, 50 do t[i] = i end
  for i = 1, 5000 do
    if not t[i] then t[i] = i end
  end
  assert(#t == 5000)
  return sum(t)
end
print("between", between())

-- The key after the one that is appended is in the hash part, so that the border moves past it.
local function next_key()
  local t = {}
  for i = 2, 20, 2 do t[i] = i end
  local borders = true
  for i = 1, 19, 2 do
    t[i] = i
    borders = borders and #t >= i + 1 and t[#t] ~= nil and t[#t + 1] == nil
  end
  return #t, borders
end
print("next key", next_key())

local function metamethod()
  local stored
  local t = setmetatable({}, { __newindex = function(_, k, v) stored = v end })
  rawset(t, 1, 1)
  rawset(t, 10, 10)
  for i = 2, 7 do t[i] = i end
  return #t, t[2], stored
end
print("metamethod", metamethod())

local function shrinks()
  local t = {}
  for i = 4000, 1, -1 do t[i] = i end
  for i = 1, 3990 do t[i] = nil end
  for i = 4001, 9000 do t[i] = i end
  for i = 4001, 9000 do t[i] = nil end
  local count = sum(t)
  for i = 3991, 4000 do t[i] = nil end
  return sum(t), count
end
print("shrinks", shrinks())

local function booleans()
  local t, count = {}, 0
  for i = 3000, 1, -1 do t[i] = i % 2 == 0 end
  local right = true
  for k, v in pairs(t) do
    count = count + 1
    right = right and v == (k % 2 == 0)
  end
  return count, right
end
print("booleans", booleans())
