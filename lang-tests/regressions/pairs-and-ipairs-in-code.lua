-- expect: ok
--| 86400
--| 4	6	3
--| 3	3.5	0	6	5
--| 73	10
--| 3	2
--| 7	1	6
--| 37	9
--| 10.5	nil
--| 15
--| false	attempt to index a nil value
--| false	attempt to index a number value
--| false	bad argument #1 to 'for iterator' (table expected, got nil)
--| false	bad argument #1 to 'for iterator' (table expected, got nil)
--| 4	1
--| 25
--| 28
--| 28
--| 16
--| 1 4 9 2 4 6 1 4 9 2 4 6 end
--| 1 2 1 2 3
-- pairs and ipairs are called by machine code, which knows their iterators then.

local function strip(...)
  local r = table.pack(...)
  for i = 1, r.n do
    if type(r[i]) == "string" then r[i] = r[i]:gsub("^[^%s]*:%d+: ", "") end
  end
  return table.unpack(r, 1, r.n)
end

local function list(t)
  local s, n = 0, 0
  for i, v in ipairs(t) do s, n = s + v, n + i end
  return s, n
end
local function keys(t) local s = 0 for i in ipairs(t) do s = s + i end return s end
local function three(t)
  local s = 0
  for i, v, w in ipairs(t) do s = s + i + (w or 1) end
  return s
end
local function sum(t) local s = 0 for _, v in pairs(t) do s = s + v end return s end
local function count(t) local n = 0 for _ in pairs(t) do n = n + 1 end return n end
local function first(t) for k, v in pairs(t) do return k, v end end
local function find(t, x) for i, v in ipairs(t) do if v == x then return i end end return false end
local function broken(t)
  local n = 0
  for i, v in ipairs(t) do
    n = i
    if v == 3 then break end
  end
  return n
end
local function nested(t)
  local s = 0
  for i, r in ipairs(t) do
    for j, v in ipairs(r) do
      for _, w in pairs(r) do s = s + i * j + v - w end
    end
  end
  return s
end
local function closures(t)
  local fs = {}
  for i, v in ipairs(t) do fs[#fs + 1] = function() v = v + i return v end end
  for k, v in pairs(t) do fs[#fs + 1] = function() k = k + 1 return k end end
  local s = 0
  for _, f in ipairs(fs) do s = s + f() + f() end
  return s
end
local function run(n)
  local s, t, r = 0, {1, 2, 3, 4}, {x = 1, y = 2, z = 3}
  for i = 1, n do
    local a, b = list(t)
    s = s + a * b + keys(t) + three(t) + sum(t) + sum(r) + count(r) + count(t) + (find(t, 3) or 0)
    s = s + broken(t) + nested({t, {5, i}}) + closures(t) + select(2, first(t))
    s = s + count({}) + keys({})
    s = s % 100003
  end
  return s
end
print(run(300))

local function truths(t)
  local n = 0
  for i, v in ipairs(t) do n = n + (v and i or 0) end
  return n
end
for i = 1, 300 do truths({true, false, i % 2 == 0}) end
print(truths({true, false, true}), truths({1, "x", {}, false}), truths({[1] = 0.5, [2] = true}))

-- other tables: holes, booleans, floats, metatables, growing and shrinking ones
print(list({1, 2, nil, 4}), list({1.5, 2}), list({}), keys({true, false, true}), three({"a", {}}))
local function tens(_, i) if i < 5 then return i * 10 end end
local with_index = setmetatable({1, 2}, {__index = tens})
print(list(with_index))
print(keys(setmetatable({1, 2}, {})), broken(setmetatable({1, 3}, {__index = {}})))
local function one(_, k) if not k then return 1, 7 end end
local with_pairs = setmetatable({1, 2}, {__pairs = function(t) return one, t end})
print(sum(with_pairs), count(with_pairs), sum(setmetatable({1, 2, x = 3}, {})))
local function grow(t)
  local n = 0
  for i, v in ipairs(t) do
    n = n + v
    if #t < 9 then t[#t + 1] = i end
  end
  return n, #t
end
local function shrink(t)
  local n = 0
  for k, v in pairs(t) do
    n = n + v
    t[k] = nil
  end
  return n, next(t)
end
local function late(t)
  local n = 0
  for i, v in ipairs(t) do
    n = n + v
    if i == 2 then setmetatable(t, {__index = {[4] = 9}}) end
  end
  return n
end
for i = 1, 300 do
  grow({1})
  shrink({1, 2, x = 3})
  late({1, 2, 3})
end
print(grow({1}))
print(shrink({1, 2, x = 3, y = 4.5}))
print(late({1, 2, 3}))

-- errors, and functions that are not those of the library
for i = 1, 300 do list({i}) sum({i}) end
print(strip(pcall(list, nil)))
print(strip(pcall(list, 5)))
print(strip(pcall(sum, nil)))
print(strip(pcall(sum)))
print(list(setmetatable({}, {__index = function(_, i) if i == 1 then return 4 end end})))
local function global(t)
  local s = 0
  for k, v in pairs(t) do s = s + k * v end
  for k, v in ipairs(t) do s = s + v end
  return s
end
for i = 1, 300 do global({i, 2}) end
local old_pairs, old_ipairs = pairs, ipairs
local function up(t, k)
  k = (k or 0) + 1
  if k < 4 then return k, k end
end
pairs = function(t) return up, t end
ipairs = old_pairs
print(global({5, 6}))
pairs, ipairs = old_ipairs, old_ipairs
print(global({5, 6, x = 100}))
pairs, ipairs = old_pairs, old_ipairs
print(global({5, 6}))

-- variables that debuggers change, and yields in the body
local function change(n, v) return debug.setlocal(2, n, v) end
local function changed(t, at)
  local s = 0
  for i, v in ipairs(t) do
    s = s + v
    if i == at then
      local n = 1
      while debug.getlocal(1, n) ~= "(for state)" do n = n + 1 end
      change(n + 2, 5)
    end
  end
  return s
end
for i = 1, 300 do changed({1, 2, 3}, 0) end
print(changed({1, 2, 3, 4, 5, 6, 7}, 2))
local co = coroutine.wrap(function(t)
  for i = 1, 100 do
    for k, v in ipairs(t) do if i > 98 then coroutine.yield(k * v) end end
    for k, v in pairs(t) do if i > 98 then coroutine.yield(k + v) end end
  end
  return "end"
end)
local out = {}
repeat out[#out + 1] = co({1, 2, 3}) until out[#out] == "end"
print(table.concat(out, " "))
local function close(t)
  local log = {}
  for i, v in ipairs(t) do
    local c <close> = setmetatable({}, {__close = function() log[#log + 1] = i end})
    if v == 2 then break end
  end
  for k, v in pairs(t) do
    local c <close> = setmetatable({}, {__close = function() log[#log + 1] = v end})
  end
  return table.concat(log, " ")
end
for i = 1, 100 do close({1, 2, 3}) end
print(close({1, 2, 3}))
