-- Stores under integer keys outside of the array: to keys that have a value, to new ones, and to
-- those that had one, with and without metamethods, in weak tables, and during traversals.
-- expect: ok

local function store(t, k, v) t[k] = v end
local function count(t, k) t[k] = (t[k] or 0) + 1 end

local keys = { 0, -1, 1000, 1 << 40, math.mininteger, math.maxinteger, 77, 3000, -50, 12345 }

for round = 1, 200 do
  local t = {}
  for n = 1, #keys do store(t, keys[n], n) end
  for n = 1, #keys do store(t, keys[n], n + round) end
  for n = 1, #keys do assert(t[keys[n]] == n + round) end
  store(t, 1000, nil)
  store(t, 77, "text")
  store(t, 0, {})
  assert(t[1000] == nil and t[77] == "text" and type(t[0]) == "table")
  store(t, 1000, 1.5)
  assert(t[1000] == 1.5)
  local n = 0
  for k, v in pairs(t) do
    n = n + 1
    store(t, k, nil)
  end
  assert(n == #keys and next(t) == nil)
  for k = 1, 40 do store(t, k, k) end
  assert(#t == 40)
  for k = 1, 40 do count(t, k * 7 % 41) end
  assert(#t == 40 and t[0] == nil)
end

-- consecutive keys far from the array
for round = 1, 50 do
  local t = {}
  for k = 500, 600 do store(t, k, k) end
  for k = 500, 600 do store(t, k, k % 3 == 0 and { k } or k + 0.5) end
  for k = 500, 600 do
    local v = t[k]
    assert(k % 3 == 0 and v[1] == k or v == k + 0.5)
  end
end

-- metamethods are called only for keys without a value
for round = 1, 50 do
  local log = 0
  local t = setmetatable({ [1000] = 1 }, {
    __newindex = function(t, k, v) log = log + 1 rawset(t, k, v) end,
  })
  for n = 1, 30 do store(t, 1000, n) end
  assert(log == 0 and t[1000] == 30)
  store(t, 1000, nil)
  store(t, 1000, 1)
  store(t, 2000, 2)
  assert(log == 2 and t[2000] == 2)
end

-- a table that is a class or a metatable
for round = 1, 50 do
  local class = { [1000] = 1 }
  class.__index = class
  local o = setmetatable({}, class)
  for n = 1, 30 do
    store(class, 1000, n)
    assert(o[1000] == n)
  end
  store(class, 1000, nil)
  assert(o[1000] == nil)
end

-- what only the hash part refers to stays alive
do
  local t = { [5000] = 0, [-7] = 0 }
  for round = 1, 300 do
    store(t, 5000, { round })
    store(t, -7, "s" .. round)
    if round % 50 == 0 then collectgarbage(round % 100 == 0 and "collect" or "step") end
    assert(t[5000][1] == round and t[-7] == "s" .. round)
  end
  local weak = setmetatable({ [5000] = 0 }, { __mode = "v" })
  for _ = 1, 100 do store(weak, 5000, {}) end
  collectgarbage()
  assert(weak[5000] == nil)
end

-- a store of the constant nil
local function clear(t, k) t[k] = nil end
do
  local t = {}
  for round = 1, 300 do
    store(t, 5000, round)
    store(t, -7, { round })
    assert(t[5000] == round and t[-7][1] == round)
    clear(t, 5000)
    clear(t, -7)
    clear(t, 7000)
    assert(next(t) == nil)
  end
end
