-- covers: stores of string keys to tables without a shape, which machine code does in place where
-- the key has a value: kinds of values, missing keys, __newindex, classes, environments, long keys
-- expect: ok
--| 0
--| 300 21
--| 0
--| 468
--| 2647000
--| 32960	nil
--| 4501800	3000	3000	3000
--| 1001
--| 0=300 1=296 2=297 3=298 4=299
--| 60

local keys = {}
for i = 1, 60 do keys[i] = "key" .. i end
local function fill(t, n)
  for i = 1, n do t[keys[i]] = i end
  return t
end

-- values of all kinds
local D = fill({}, 60)
local values = { 1, 0.5, "text", true, false, {}, print, nil, { 2 }, function() end }
local function put(t, k, v) t[k] = v end
local function name(t, v) t.key7 = v end
local seen = 0
for i = 1, 4000 do
  local k = keys[i % 60 + 1]
  local v = values[i % 10 + 1]
  put(D, k, v)
  if D[k] ~= v then seen = seen + 1 end
  name(D, v)
  if D.key7 ~= v then seen = seen + 1 end
  if i % 500 == 0 then collectgarbage() end
end
print(seen)

-- counting words
local function count(words, n)
  local counts = {}
  for i = 1, n do
    local w = words[i * i % 41 + 1]
    counts[w] = (counts[w] or 0) + 1
  end
  return counts
end
for _ = 1, 30 do
  local sum, some = 0, 0
  for _, c in pairs(count(keys, 300)) do sum, some = sum + c, some + 1 end
  seen = sum .. " " .. some
end
print(seen)

-- new objects in an old table
local lists = fill({}, 40)
for round = 1, 40 do
  for i = 1, 40 do lists[keys[i]] = { keys[i], round } end
  if round % 10 == 0 then collectgarbage("step") end
end
collectgarbage()
local wrong = 0
for i = 1, 40 do
  if lists[keys[i]][1] ~= keys[i] or lists[keys[i]][2] ~= 40 then wrong = wrong + 1 end
end
print(wrong)

-- __newindex is asked for keys without a value
local log = 0
local meta = { __newindex = function(t, k, v) log = log + 1 rawset(t, k, v) end }
local P = setmetatable(fill({}, 50), meta)
for i = 1, 2000 do
  put(P, keys[i % 60 + 1], i)
  if i % 7 == 0 then put(P, keys[i % 60 + 1], nil) end
  if i % 11 == 0 then name(P, nil) name(P, i) end
end
print(log)

-- methods of a class with many fields
local Class = fill({}, 50)
Class.__index = Class
Class.get = function(self) return self.x end
local object = setmetatable({ x = 3 }, Class)
local function get(o) return o:get() end
local total = 0
for i = 1, 3000 do
  total = total + get(object)
  if i % 400 == 0 then put(Class, "get", function(self) return self.x + i end) end
  if i == 2500 then
    put(Class, "__index", function() return function() return -1 end end)
  end
end
print(total)

-- globals, and an environment that is used as a table too
for i = 1, 30 do put(_G, "global" .. i, i) end
local function sum()
  return global1 + global2 + global3
end
total = 0
for i = 1, 2000 do
  put(_G, "global2", i % 100 == 0 and i or 2)
  total = total + sum()
end
for i = 1, 30 do put(_G, "global" .. i, nil) end
print(total, global1)
local function read() return global40 end
global40 = 1
total = 0
for i = 1, 300 do total = total + read() end
for i = 1, 3000 do
  put(_G, "global40", i)
  total = total + read()
end
print(total, read(), global40, rawget(_G, "global40"))
local function run(_ENV, n)
  for i = 1, n do
    put(_ENV, "key3", i)
    key4 = key3 + 1
  end
  return key4
end
print(run(fill({ put = put }, 45), 1000))

-- long keys are other strings each time
local L = fill({}, 20)
for i = 1, 300 do put(L, ("long"):rep(20) .. i % 5, i) end
local all = {}
for k, v in pairs(L) do if #k > 20 then all[#all + 1] = k:sub(-1) .. "=" .. v end end
table.sort(all)
print(table.concat(all, " "))

-- existing keys are stored to during a traversal
for _ = 1, 20 do
  local T, n = fill({}, 60), 0
  for k, v in pairs(T) do
    put(T, k, v * 2)
    if v % 3 == 0 then put(T, k, nil) end
    n = n + 1
  end
  total = n
end
print(total)
