-- Float keys that stand for integers have records of the arrays that they met, as integer keys
-- have, so loops with such keys are compiled like others. Keys outside the array, keys that are
-- not integral, and arrays of other kinds come after the code is compiled.
-- expect: ok

local function sum(t, n)
  local s = 0
  for k = 1, n / 2 do
    local a = k + n / 2
    s = s + t[a] + t[k]
  end
  return s
end

local function fill(t, n, v)
  for k = 1, n / 2 do
    local a = k + n / 2
    t[a] = v
    t[a - n / 2] = v
  end
end

local function array(n, v)
  local t = {}
  for i = 1, n do t[i] = v end
  return t
end

local ints, floats, bools, strings = array(64, 3), array(64, 0.5), array(64, true), array(64, "7")
for _ = 1, 400 do
  assert(sum(floats, 64) == 32.0)
  fill(floats, 64, 0.5)
end
assert(math.type(sum(floats, 64)) == "float")
-- arrays of other kinds
assert(sum(ints, 64) == 192 and math.type(sum(ints, 64)) == "integer")
assert(sum(strings, 64) == 448)
assert(not pcall(sum, bools, 64))
fill(ints, 64, 2.5)
assert(sum(ints, 64) == 160.0 and ints[1] == 2.5)
fill(ints, 64, 1)
assert(math.type(sum(ints, 64)) == "integer" and sum(ints, 64) == 64)
fill(bools, 64, 4)
assert(sum(bools, 64) == 256)
fill(floats, 64, "2")
assert(sum(floats, 64) == 128)

-- keys outside the array, which appends or is left to the hash part
local grown = {}
fill(grown, 64, 1.5)
assert(#grown == 64 and sum(grown, 64) == 96.0)
local short = array(40, 0.25)
assert(not pcall(sum, short, 64))
fill(short, 64, 0.25)
assert(#short == 64 and sum(short, 64) == 16.0)

-- keys that are not integral, or have no equal integer
local function each(t, keys)
  local s = 0
  for i = 1, #keys do s = s + (t[keys[i]] or 100) end
  return s
end
local whole = {}
for i = 1, 32 do whole[i] = i + 0.0 end
local t = array(32, 1)
for _ = 1, 400 do assert(each(t, whole) == 32) end
whole[7] = 7.5
assert(each(t, whole) == 131)
t[7.5] = 2
assert(each(t, whole) == 33)
whole[8], whole[9], whole[10] = 2.0 ^ 63, -0.0, 0 / 0
assert(each(t, whole) == 330)
t[0] = 1000
assert(each(t, whole) == 1230)
whole[8], whole[9], whole[10] = math.huge, -1.0, 2.0 ^ 53
assert(each(t, whole) == 330)
t[-1], t[1 << 53] = 1, 2
assert(each(t, whole) == 133)

-- the same for stores, with metamethods and with keys that are refused
local function put(t, keys, v)
  for i = 1, #keys do t[keys[i]] = v end
end
for i = 1, 32 do whole[i] = i + 0.0 end
local p = array(32, 1)
for _ = 1, 400 do put(p, whole, 5) end
whole[3] = 3.25
put(p, whole, 6)
assert(p[3] == 5 and p[3.25] == 6 and p[4] == 6 and math.type(next({ [4.0] = 1 })) == "integer")
whole[3] = 0 / 0
local ok, message = pcall(put, p, whole, 7)
assert(not ok and message:find("NaN"), message)
assert(p[2] == 7 and p[4] == 6)
whole[3] = 3.0
local log = {}
local proxy = setmetatable({}, { __newindex = function(_, k, v) log[#log + 1] = k end })
put(proxy, whole, 1)
assert(#log == 32 and math.type(log[1]) == "float" and log[32] == 32.0)
local inherited = setmetatable({}, {
  __index = function(_, k) return math.type(k) == "float" and 2 end,
})
assert(each(inherited, whole) == 64)
