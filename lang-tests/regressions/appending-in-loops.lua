-- Loops that append to arrays keep what they know of fields and globals. They load arrays again:
-- these move, change their kind, take elements from the hash part, and may be the one that is read.
-- expect: ok

local insert = table.insert
local function times(n, f, ...)
  local r
  for _ = 1, n do r = f(...) end
  return r
end

-- the array that is read is the one that grows
local function double(t)
  local n = #t
  for i = 1, n do t[#t + 1] = t[i] * 2 end
  return t
end
for _ = 1, 100 do
  local t = double(double(double({ 1, 2, 3 })))
  assert(#t == 24 and t[24] == 24 and t[12] == 12 and t[13] == 2)
end
local function chase(t, other, n)
  local sum = 0
  for i = 1, n do
    other[i] = i
    sum = sum + t[i] + #t
  end
  return sum
end
for _ = 1, 100 do
  local t = {}
  assert(chase(t, t, 50) == 2 * 50 * 51 / 2)
  assert(chase({ 1, 2, 3, 4, 5 }, {}, 5) == 40)
end

-- the kind of the array changes on the way
local function kinds(n)
  local t, u = {}, {}
  for i = 1, n do
    local v = i
    if i > n // 4 then v = i + 0.5 end
    if i > n // 2 then v = "x" .. i end
    t[i] = v
    u[#u + 1] = v
    assert(t[i] == v and u[i] == v and t[1] == 1)
  end
  return t[n // 4] .. t[n // 4 + 1] .. t[n] .. u[n // 4] .. u[n // 2] .. u[n]
end
assert(times(60, kinds, 40) == "1011.5x401020.5x40")

-- elements that wait in the hash part
local function backwards(n)
  local t = {}
  for i = n, 2, -1 do t[i] = i end
  for i = 1, n do
    if t[i] == nil then t[i] = 1 end
    assert(t[i] == i)
  end
  local sum = 0
  for i = n + 1, 2 * n do
    t[i] = i
    sum = sum + #t
  end
  return sum
end
assert(times(60, backwards, 20) == 610)

-- fields and globals stay known, and so do the fields of the array's own table
Factor = 3
local function fields(n)
  local self = { n = 0, factor = 2 }
  for i = 1, n do
    self[i] = i * self.factor * Factor
    self.n = self.n + self[i]
    if i == n // 2 then self.factor = 4 end
  end
  return self.n + #self
end
assert(times(60, fields, 20) == 20 + 6 * 55 + 12 * 155)

-- a class, which caches rely on, gets elements
local function class(n)
  local Class = {}
  Class.__index = Class
  for i = 1, 20 do Class["method" .. i] = function(self) return self.n + i end end
  local object, sum = setmetatable({ n = 1 }, Class), 0
  for i = 1, n do
    Class[i] = i
    Class[#Class + 1] = 0
    Class[#Class] = nil
    sum = sum + object:method7() + object[i]
  end
  return sum
end
assert(times(40, class, 30) == 30 * 8 + 15 * 31)

-- a nil that is stored makes the array that is read shorter
local function store(t, to, k, last, n)
  local sum, v = 0, k
  for i = 1, n do
    to[k] = v
    sum = sum + t[i]
    if i == last then v = nil end
  end
  return sum
end
for _ = 1, 100 do
  assert(store({ 1, 2, 3, 4, 5, 6, 7 }, {}, 1, "v", 7) == 28)
  assert(store({ 1, 2, 3, 4, 5, 6, 7 }, { 1 }, 2, 7, 7) == 28)
end
local same = { 1, 2, 3, 4, 5, 6, 7 }
local ok, e = pcall(store, same, same, 7, 3, 7)
assert(not ok and e:find("arithmetic on a nil value", 1, true) and #same == 6)

-- holes, and arrays that are mostly holes
local function queue(n)
  local t, first, sum = {}, 1, 0
  for i = 1, n do
    t[i] = i
    if i % 2 == 0 then
      sum = sum + t[first]
      t[first] = nil
      first = first + 1
      sum = sum + t[first]
      t[first] = nil
      first = first + 1
    end
  end
  return sum + (next(t) and 1 or 0)
end
assert(times(40, queue, 300) == 150 * 301)

-- table.insert
local function collect(n)
  local t = {}
  for i = 1, n do
    insert(t, i)
    if i % 3 == 0 then insert(t, i + 0.5) end
    if i % 5 == 0 then insert(t, "s") end
    if i % 7 == 0 then insert(t, true) end
    if i % 11 == 0 then insert(t, nil) end
  end
  local shown = {}
  for i = 1, #t do insert(shown, tostring(t[i])) end
  return table.concat(shown, " ")
end
assert(times(60, collect, 15) ==
  "1 2 3 3.5 4 5 s 6 6.5 7 true 8 9 9.5 10 s 11 12 12.5 13 14 true 15 15.5 s")
local function append(t, v) insert(t, v) return t end
for i = 1, 100 do append({}, i) append({ 1 }, 1.5) append({ "a" }, "b") append({}, {}) end
local log = {}
local function note(_, k, v) log[#log + 1] = k .. "=" .. v end
local logged = setmetatable({}, { __newindex = note })
append(append(logged, 5), 6)
assert(log[1] == "1=5" and log[2] == "1=6" and #logged == 0)
local long = setmetatable({}, { __len = function() return 10 end })
append(long, "eleventh")
assert(long[11] == "eleventh" and rawlen(long) == 0)
assert(append(setmetatable({}, { __index = { 1, 2 } }), 7)[1] == 7)
local function message(...)
  local _, e = pcall(append, ...)
  return e:gsub("^[^ ]*:%d+: ", "")
end
assert(message(nil, 1) == "bad argument #1 to 'insert' (table expected, got nil)")
assert(message(5, 1) == "bad argument #1 to 'insert' (table expected, got number)")
assert(message("s", 1) == "bad argument #1 to 'insert' (table expected, got string)")
assert(#append({}, nil) == 0 and append({}, false)[1] == false)

-- comparisons of any values in a loop that keeps what it knows
local a, b = setmetatable({}, { __eq = function() return true end }), {}
local function equals(t, v, n)
  local count, of = 0, { value = v, by = 1 }
  for i = 1, n do
    if t[i] == of.value then count = count + of.by end
  end
  return count
end
local all = { 1, 1.0, "1", a, b, false, true, "1", ("x"):rep(100), 2, 1 }
for _ = 1, 60 do
  assert(equals(all, 1, 11) == 3 and equals(all, "1", 11) == 2)
  assert(equals(all, true, 11) == 1 and equals(all, nil, 12) == 1)
  assert(equals(all, ("x"):rep(50) .. ("x"):rep(50), 11) == 1)
end
assert(equals(all, a, 11) == 2 and equals(all, b, 11) == 2 and equals(all, {}, 11) == 1)
