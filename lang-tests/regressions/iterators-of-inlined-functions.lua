-- expect: ok
--| 750.0	641
--| 9 9 9 9 9 9 9 9 9 9 6 6 9 9 9 9 9 9 9 9 9 9 9
--| 66	12.0	12
--| attempt to index a nil value (local 't')	1
--| attempt to perform arithmetic on a table value (local 'i')	1
--| attempt to call a number value (for iterator 'for iterator')	1
--| 600	sum 600
--| 2280	300
--| 10	for iterator:for iterator:+ local:looked:+ :nil:+	table s=3
--| 169600
--| 113571	500
--| 18.5	nil
-- Iterators of generic loops are inlined. A loop ends with nil as the first value, and with nothing
-- else.

local function step(t, i) i = i + 1 local v = t[i] if v ~= nil then return i, v end end
local function each(t) return step, t, 0 end
local function range(n) local i = 0 return function() i = i + 1 if i <= n then return i end end end
local function values(t) local i = 0 return function() i = i + 1 return t[i] end end
local function pairs_of(...)
  local i, t = 0, {...}
  return function(...) i = i + 2 return t[i - 1], t[i] end
end
local function flags(n)
  local i = 0
  return function() i = i + 1 if i > n then return nil end return i % 2 == 0, i end
end
local function nothing(n)
  local i = 0
  return function() i = i + 1 if i > n then return end return i end
end
local function twice(s, c) c = c * 2 if c < s then return c, c + 0.5, nil, "x" end end

local function run(n)
  local s = 0
  local t = {5, 6, 7, 8}
  for i = 1, n do
    for k, v in each(t) do s = s + k * v end
    for v in values(t) do s = s + v end
    for v in range(i % 7) do s = s + v if v == 5 then break end end
    for a, b in pairs_of(i, 2, s, 4) do s = (s + a - b) % 10007 end
    for f, v in flags(3) do s = s + (f and v or 1) end
    for v, w in nothing(3) do s = s + v + (w or 2) end
    for c, h, m, x in twice, i, 1 do s = s + h + (m or #x) end
    for k in step, t, 2 do s = s + k end
    for _ in each({}) do s = s + 1e9 end
    s = s % 10007
  end
  return s
end
print(run(300), run(2))

-- other iterators, tables and types come later
local function sum(iterate, ...)
  local s = 0
  for k, v in iterate(...) do s = s + (tonumber(v) or tonumber(k) or 1) end
  return s
end
local results = {}
for i = 1, 400 do
  local r
  if i < 300 then r = sum(each, {1, 2, i})
  elseif i < 320 then r = sum(each, {1.5, "3", i})
  elseif i < 340 then r = sum(range, 4)
  elseif i < 360 then r = sum(pairs, {1, 2, x = 3})
  elseif i < 380 then r = sum(string.gmatch, "1 2 3", "%d")
  else r = sum(ipairs, {4, 5}) end
  results[i % 23 + 1] = r
end
print(table.concat(results, " "))

-- control variables that are not integers, tables with metamethods, errors
local log = {}
local proxy = setmetatable({}, {__index = function(_, i) if i <= 3 then return i * 10 end end})
local function tried(t, from)
  local s = 0
  for k, v in step, t, from do s = s + k + v end
  return s
end
for i = 1, 300 do tried({1, 2, 3}, 0) end
print(tried(proxy, 0), tried({1, 2, 3}, 0.0), tried({1, 2, 3}, "0"))
print(select(2, pcall(tried, nil, 0)):gsub("^.*:%d+: ", ""))
print(select(2, pcall(tried, {1}, {})):gsub("^.*:%d+: ", ""))
print(select(2, pcall(function() for k in 5 do end end)):gsub("^.*:%d+: ", ""))

-- yields, closing values, and what debuggers see in the middle of an iterator
local function yielding(n, i) if i < n then i = i + 1 coroutine.yield(i) return i end end
local co = coroutine.wrap(function()
  local s = 0
  for _ = 1, 100 do for i in yielding, 3, 0 do s = s + i end end
  return "sum " .. s
end)
local yields = 0
local last
repeat last = co() yields = yields + (math.type(last) and last or 0) until not math.type(last)
print(yields, last)
local closed = 0
local guard = setmetatable({}, {__close = function() closed = closed + 1 end})
local function guarded(n)
  local s = 0
  for i in step, {1, 2, 3, 4}, 0, guard do
    s = s + i
    if i == n then break end
    if i == 3 and n == 9 then return s end
  end
  return s
end
local total = 0
for i = 1, 300 do total = total + guarded(i % 10) end
print(total, closed)
local function levels(t, i)
  i = i + 1
  if i == 3 and t.at then
    local name, info = {}, nil
    for level = 1, 3 do
      info = debug.getinfo(level, "nSl")
      local at = info.currentline > 0 and "+" or "-"
      name[level] = info.namewhat .. ":" .. tostring(info.name) .. ":" .. at
    end
    log[1] = table.concat(name, " ")
    local at = 1
    local seen = {}
    while true do
      local n, v = debug.getlocal(2, at)
      if not n then break end
      if n == "k" or n == "s" then seen[#seen + 1] = n .. "=" .. tostring(v) end
      if n == "t" then seen[#seen + 1] = type(v) end
      at = at + 1
    end
    log[2] = table.concat(seen, " ")
  end
  if i <= 4 then return i end
end
local function looked(t) local s = 0 for k in levels, t, 0 do s = s + k end return s end
for i = 1, 300 do looked({}) end
print(looked({at = true}), log[1], log[2])

-- a loop in a loop that is entered in the middle, and one that changes its iterator's variables
local function nested(n)
  local s = 0
  for i = 1, n do
    for _, v in each({1, 2, 3, 4}) do
      for w in range(v) do
        if w == 3 then goto next end
        s = s + v * w + i
        ::next::
      end
    end
  end
  return s
end
print(nested(200))
local function counting()
  local n, s = 0, 0
  local function more() n = n + 1 if n % 100 ~= 0 then return n end end
  for _ = 1, 5 do for v in more do s = s + v if v % 37 == 0 then n = n + 3 end end end
  return s, n
end
print(counting())
local function over(t)
  local s = 0
  for k, v in pairs(t) do
    s = s + v
    t[k] = nil
  end
  for k, v in ipairs({3, 4}) do s = s + k * v end
  return s, next(t)
end
for i = 1, 300 do over({1, 2, x = 3}) end
print(over({1, 2, x = 3.5, y = 1}))
