-- An array of booleans may have elements that are nil: a sieve begins at 2, and sets of integers
-- are sparse. Metamethods are called for such elements, and the length is a border.
-- expect: ok

local function sieve(n)
  local composite = {}
  for i = 2, n do composite[i] = false end
  for i = 2, n do
    if not composite[i] then
      for j = i * i, n, i do composite[j] = true end
    end
  end
  local count = 0
  for i = 1, n do
    if composite[i] == false then count = count + 1 end
  end
  return count, composite
end
for _ = 1, 20 do
  local count, composite = sieve(1000)
  assert(count == 168 and composite[1] == nil and #composite == 1000)
end

-- removing elements from the end, from the middle, and from both sides of a hole
local function remove(t, from, to, step)
  for i = from, to, step do t[i] = nil end
end
local function new(n, first)
  local t = {}
  for i = first, n do t[i] = i % 2 == 0 end
  return t
end
local function check(t, expected)
  local n, found = 0, {}
  for k, v in pairs(t) do
    assert(type(v) == "boolean" and t[k] == v)
    n, found[k] = n + 1, v
  end
  assert(n == expected, n)
  local border = #t
  assert((border == 0 or t[border] ~= nil) and t[border + 1] == nil)
  for i = 1, 100 do assert(t[i] == found[i]) end
end
for first = 1, 3 do
  for _ = 1, 40 do
    local t = new(100, first)
    remove(t, 50, 60, 1)
    check(t, 90 - first)
    remove(t, 100, 61, -1)
    check(t, 50 - first)
    assert(#t == 49)
    remove(t, 49, 49, 1)
    assert(#t == 48)
    for i = 50, 70 do t[i] = false end
    check(t, 70 - first)
    t[49] = true
    check(t, 71 - first)
    remove(t, 1, 70, 3)
    check(t, first == 1 and 46 or first == 2 and 46 or 45)
    remove(t, 1, 100, 1)
    assert(next(t) == nil and #t == 0)
  end
end

-- sets: membership of keys that are in the array but nil, and outside
local function members(set, n)
  local count = 0
  for i = 1, n do
    if set[i] then count = count + 1 end
  end
  return count
end
for round = 1, 60 do
  local set = {}
  for i = 1, 64 do
    if i % 3 ~= round % 3 then set[i] = true end
  end
  local expected = 0
  for i = 1, 64 do expected = expected + (i % 3 ~= round % 3 and 1 or 0) end
  assert(members(set, 64) == expected and members(set, 200) == expected)
end

-- metamethods
local function flip(t, n)
  for i = 1, n do t[i] = not t[i] end
end
for round = 1, 60 do
  local t = new(20, 2)
  t[10], t[15] = nil, nil
  local stores, loads = {}, 0
  setmetatable(t, {
    __index = function(_, k)
      loads = loads + 1
      return k == 10
    end,
    __newindex = function(t, k, v)
      stores[#stores + 1] = k
      if round % 2 == 0 then rawset(t, k, v) end
    end,
  })
  flip(t, 20)
  assert(loads == 3 and table.concat(stores, " ") == "1 10 15")
  assert(rawget(t, 10) ~= true and (rawget(t, 10) == nil) == (round % 2 ~= 0))
  assert(rawget(t, 15) == (round % 2 == 0 or nil) and t[2] == false and t[3] == true)
  setmetatable(t, nil)
  flip(t, 20)
  assert(t[2] == true and t[3] == false and t[1] == (round % 2 ~= 0))
  local proxy = setmetatable(new(20, 2), { __index = { true, 7 } })
  assert(proxy[1] == true and proxy[2] == true and members(proxy, 20) == 11)
end

-- other values join, and the library
for _ = 1, 60 do
  local t = new(12, 2)
  t[1] = "one"
  assert(t[1] == "one" and t[2] == true and #t == 12)
  t = new(12, 2)
  t[5] = 5
  assert(t[1] == nil and t[5] == 5 and t[12] == true and t[3] == false)
  t = new(12, 2)
  table.insert(t, true)
  assert(#t == 13 and t[1] == nil and t[13] == true)
  table.insert(t, 2, false)
  assert(#t == 14 and t[1] == nil and t[2] == false and t[3] == true)
  assert(table.remove(t, 1) == nil and t[1] == false and #t == 13)
  assert(select("#", table.unpack(t)) == 13 and (table.unpack(t, 2)) == true)
  t = table.move(new(12, 2), 1, 12, 3)
  assert(t[3] == nil and t[4] == true and t[14] == true)
  assert(not pcall(table.concat, t))
  assert(not pcall(table.sort, new(12, 2)))
  local n = 0
  for i, v in ipairs(new(12, 2)) do n = n + 1 end
  assert(n == 0)
  t = new(12, 1)
  t[7] = nil
  for i, v in ipairs(t) do n = n + i end
  assert(n == 21)
  n = 0
  for k, v in next, t do
    n = n + k
    t[k] = nil
  end
  assert(n == 71 and next(t) == nil)
end

-- a table that is made for many elements gets the last one first
local function backwards(n)
  local t = {}
  for i = n, 1, -1 do t[i] = i % 5 == 0 end
  return t
end
local function pairwise(n)
  local t = {}
  for i = 1, n, 2 do t[i], t[i + 1] = true, false end
  return t
end
for _ = 1, 60 do
  local t = backwards(40)
  assert(#t == 40 and t[5] == true and t[40] == true and t[1] == false)
  t = pairwise(40)
  assert(#t == 40 and t[39] == true and t[40] == false)
  t = new(40, 9)
  assert(t[8] == nil and t[9] == false and members(t, 40) == 16)
end

-- large sets of which few keys are there, in other orders, and with other values later
for step = 2, 6 do
  for _ = 1, 4 do
    local set, n = {}, 0
    for i = step, 900, step do set[i] = true end
    for k, v in pairs(set) do
      n = n + 1
      assert(k % step == 0 and v)
    end
    assert(n == 900 // step and members(set, 1000) == n)
    for i = 900, 1, -7 do set[i] = false end
    for i = 1, 900 do
      local kept = i % step == 0 or nil
      if (900 - i) % 7 == 0 then kept = false end
      assert(set[i] == kept)
    end
    set[450], set[2000] = "x", 1.5
    assert(set[450] == "x" and set[2000] == 1.5 and set[1999] == nil and set[2 * step] ~= nil)
    local border = #set
    assert((border == 0 or set[border] ~= nil) and set[border + 1] == nil)
    for k in pairs(set) do set[k] = nil end
    assert(next(set) == nil and #set == 0)
  end
end
