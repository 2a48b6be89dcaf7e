-- expect: ok
--| 7 12 0
--| 6 10
--| 7
--| false lookups-in-front-of-loops.lua:58: attempt to index a nil value (global 'math')
--| true 0
--| 7
--| 10
--| 306
--| 21
--| 2
--| 1002
--| false lookups-in-front-of-loops.lua:98: attempt to perform arithmetic on a nil value (global 'limit')
--| 104,101,108,108,111
--| -1,-2,-3,-4,-5
--| 104,101,108,108,111
--| false lookups-in-front-of-loops.lua:115: attempt to call a nil value (method 'byte')
--| 2
--| 104,105
--| 97 ABC 98 ABC 99 ABC
--| 97 ABCD 98 ABCD other ABCD other ABCD
--| 97 ABCD 66 abcd 99 abcd 68 abcd
--| false lookups-in-front-of-loops.lua:139: attempt to call a nil value (method 'upper')
--| 97 ABCD 98 T table T table T
--| 97 ABCD 98 upper! byte! upper! byte! upper!
--| 97 ABCD 98 dcba 4 dcba 4 dcba
--| false lookups-in-front-of-loops.lua:139: attempt to index a string value (local 's')
--| 97 AB 98 AB
--| aa bb
--| aa own2 cc
--| false lookups-in-front-of-loops.lua:179: attempt to index a number value (field '?')
--| d1 e1 h1 l3 o2 r1 w1
--| e1 h1 l2 o2 w1 z8
--| a2 g1 i1 n1
--| 97
--| 98
--| changed
--| 100 end
--| false attempt to divide by zero
--| false attempt to perform 'n%0'
--| false attempt to divide by zero
--| false attempt to perform 'n%0'
--| false attempt to divide by zero
--| false attempt to perform 'n%0'
-- Loops look up library functions and methods of strings in front of them. What they find is
-- valid until something changes it, inside of the loop or before it.

local function report(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  print(table.concat(t, " "))
end

-- a function of the library on one path only
local function halve(n)
  local steps = 0
  while n > 1 do
    if n % 2 == 0 then n = math.floor(n / 2) else n = n + 1 end
    steps = steps + 1
  end
  return steps
end
for i = 1, 60 do halve(i) end
report(halve(27), halve(97), halve(1))
local floor = math.floor
math.floor = function(x) return floor(x) - 1 end
report(halve(27), halve(97))
math.floor = floor
report(halve(27))
local saved = math
math = nil
report(pcall(halve, 3))
report(pcall(halve, 1))
math = setmetatable({}, {__index = saved})
report(halve(27))
math = saved

-- replaced by the loop itself, through a call on one path
local function replacing(n, at)
  local sum = 0
  for i = 1, n do
    if i == at then math.abs = function(x) return 100 end end
    sum = sum + math.abs(-i)
  end
  return sum
end
local abs = math.abs
report(replacing(4, 9))
for _ = 1, 200 do replacing(4, 9) end
report(replacing(6, 4))
math.abs = abs
report(replacing(6, 9))

-- a global that becomes nil, and one of the environment that changes
local function with_global(n)
  local sum = 0
  for i = 1, n do
    if i % 3 == 0 then sum = sum + limit end
    if i == 7 then limit = 1000 end
    if i == 11 then limit = nil end
  end
  return sum
end
for _ = 1, 100 do limit = 1 with_global(6) end
limit = 1
report(with_global(6))
report(with_global(10))
limit = 2
report(pcall(with_global, 12))
limit = nil

-- methods of strings while the loop appends to tables, and calls
local function bytes(s)
  local out = {}
  for i = 1, #s do out[#out + 1] = s:byte(i) end
  return out
end
local function joined(s) return table.concat(bytes(s), ",") end
for i = 1, 100 do joined("abc" .. i) end
report(joined("hello"))
local byte = string.byte
string.byte = function(s, i) return -i end
report(joined("hello"))
string.byte = byte
report(joined("hello"))
string.byte = nil
report(pcall(joined, "hello"))
report(select("#", pcall(joined, "")))
string.byte = byte
report(joined("hi"))

-- replaced in the middle of a loop, by a function that it calls
local action = function() end
local function acting(s)
  local out = {}
  for i = 1, #s do
    out[#out + 1] = s:byte(i)
    action(i)
    out[#out + 1] = s:upper()
  end
  return table.concat(out, " ")
end
for i = 1, 100 do acting("x" .. i) end
report(acting("abc"))
action = function(i) if i == 2 then string.byte = function() return "other" end end end
report(acting("abcd"))
string.byte = byte
local upper = string.upper
action = function(i) if i == 2 then string.upper = string.lower end end
report(acting("aBcD"))
string.upper = upper
action = function(i) if i == 2 then string.upper = nil end end
report(pcall(acting, "abcd"))
string.upper = upper
-- the metatable of strings itself
local meta = getmetatable("")
action = function(i) if i == 2 then meta.__index = {byte = function() return "table" end,
  upper = function() return "T" end} end end
report(acting("abcd"))
meta.__index = string
action = function(i)
  if i == 2 then meta.__index = function(s, k) return function() return k .. "!" end end end
end
report(acting("abcd"))
meta.__index = string
action = function(i) if i == 2 then debug.setmetatable("", {__index = {byte = string.len,
  upper = string.reverse}}) end end
report(acting("abcd"))
debug.setmetatable("", meta)
action = function(i) if i == 2 then debug.setmetatable("", nil) end end
report(pcall(acting, "abcd"))
debug.setmetatable("", meta)
action = function() end
report(acting("ab"))

-- an own method that shadows the library's, for tables and strings at one place
local function mixed(list)
  local out = {}
  for i = 1, #list do out[#out + 1] = list[i]:rep(2) end
  return table.concat(out, " ")
end
for _ = 1, 100 do mixed({"a", "b"}) end
report(mixed({"a", "b"}))
report(mixed({"a", {rep = function(_, n) return "own" .. n end}, "c"}))
report(pcall(mixed, {"a", 1, "c"}))

-- loops in loops: what the outer one looks up, the inner one uses
local function nested(words)
  local count = {}
  for i = 1, #words do
    local w = words[i]
    for j = 1, #w do
      local c = w:sub(j, j)
      count[c] = (count[c] or 0) + 1
      if j == 2 then action(i) end
    end
  end
  local keys = {}
  for k, n in pairs(count) do keys[#keys + 1] = tostring(k) .. n end
  table.sort(keys)
  return table.concat(keys, " ")
end
for _ = 1, 100 do nested({"hello", "world"}) end
report(nested({"hello", "world"}))
local sub = string.sub
action = function(i) if i == 2 then string.sub = function() return "z" end end end
report(nested({"hello", "world", "again"}))
string.sub = sub
action = function() end
report(nested({"again"}))

-- in coroutines, which leave and enter the loop while others change what it has found
local co = coroutine.wrap(function(s)
  for i = 1, #s do
    local b = s:byte(i)
    coroutine.yield(b)
  end
  return "end"
end)
report(co("abcd"))
report(co())
string.byte = function() return "changed" end
report(co())
string.byte = byte
report(co(), co())

-- endless loops without a branch, after which nothing is executed
local function until_error(d)
  local s = 0
  while true do
    local g = math
    s = s + 10 // d
    d = d - 1
  end
end
local function until_other_error(d)
  local s = 0
  while true do
    local g = math.floor
    s = s + 10 % d
    d = d - 1
  end
end
for _ = 1, 3 do
  for _, f in ipairs({until_error, until_other_error}) do
    local ok, message = pcall(f, 5000)
    report(ok, (message:gsub("^.*:%d+: ", "")))
  end
end
