-- expect: ok
--| 62700	0	0	n	0
--| 29200.0
--| 1	3	1	1
--| 51	3	51	51
--| 101	3	101	101
--| 151	3	151	151
--| 200	0	nil	nil
--| 201	0	nil	nil
--| 202	0	nil	nil
--| 251	3	251	251
--| 300	0	nil	nil
--| 301	0	nil	nil
--| 351	3	351	351
--| 25	350	-202=202	-301=301	350	350
--| 19	11	20=20
--| 0	30	30=30
--| 98	98	nil
--| 99	nil	2=99
--| 100	nil	2=100
--| 297	true	5	1	4	0	second	2	3
--| nil	0
--| 298	false	nil	nil	0	7	nil	nil	nil
--| nil	0
--| 299	true	second	nil	0	0	nil	nil	nil
--| nil	0
--| 300	true	5	1	4	0	second	2	3
--| zero	0
--| 1490
--| 5	7 2 9 4	7	2	9
--| true
--| 2 4 7 9	2	4	7	9
--| 9	nil	nil	seventh of the class	nil
--| false	invalid value (nil) at index 5 in table for 'concat'
--| a b third of the class d
--| b	third of the class	d
--| b	third of the class	d
--| true
--| 9 7 4 2
--| 5	7 2 9	7	2	9
--| true
--| 2 7 9	2	7	9
--| nil	nil	nil	seventh of the class	nil
--| false	invalid value (nil) at index 4 in table for 'concat'
--| a b third of the class d
--| nil	third of the class	d
--| b	third of the class	nil
--| true
--| 9 7 2
--| 5	7 2 third of the class	7	2	third of the class
--| false
--| 7 2 third of the class	7	2	third of the class
--| 9	nil	nil	seventh of the class	nil
--| false	invalid value (nil) at index 5 in table for 'concat'
--| a b third of the class d
--| b	third of the class	e
--| b	third of the class	nil
--| false
--| 7 2 third of the class
--| 4
--| true
--| 0
-- New keys in tables with metatables, which may get and lose __newindex at any time.

local C = {} C.__index = C

local function class(events)
  events = events or {}
  events.__index = events
  return events
end

-- A stack that is its own array.
local Stack = class()
function Stack.new() return setmetatable({ n = 0 }, Stack) end
function Stack:push(v) self.n = self.n + 1 self[self.n] = v end
function Stack:pop() local v = self[self.n] self[self.n] = nil self.n = self.n - 1 return v end

local s, sum = Stack.new(), 0
for round = 1, 300 do
  for i = 1, 20 do s:push(round % 7 == 0 and tostring(i) or i) end
  for _ = 1, 19 do sum = sum + s:pop() end
  s:pop()
end
print(sum, s.n, #s, next(s))

-- Arrays, keys from 0 and below, and computed names.
local function fill(t, from, to, step)
  for i = from, to, step do t[i] = i * 2 end
  return t
end
local function names(t, n)
  for i = 1, n do t["k" .. i] = i end
  return t
end
local total = 0
for round = 1, 200 do
  local t = fill(setmetatable({}, C), 1, 30, 1)
  total = total + #t + t[30]
  t = fill(setmetatable({}, C), 0, 12, 1)
  total = total + #t + t[0] + t[12]
  t = fill(setmetatable({}, C), 5, -5, -1)
  total = total + t[-5] + t[5]
  t = fill(setmetatable({}, C), 0.5, 3, 0.5)
  total = total + t[0.5] + t[3]
  t = names(setmetatable({}, C), 12)
  total = total + t.k1 + t.k12
end
print(total)

-- A metatable that gets __newindex, loses it, and gets it by rawset.
local log = {}
local function note(t, k, v) log[#log + 1] = tostring(k) .. "=" .. tostring(v) end
local M = class()
local function store(t, k, v) t[k] = v end
for round = 1, 400 do
  local t = setmetatable({}, M)
  if round == 200 then M.__newindex = note end
  if round == 203 then M.__newindex = nil end
  if round == 300 then rawset(M, "__newindex", note) end
  if round == 302 then rawset(M, "__newindex", nil) end
  if round == 350 then M.__newindex = log end
  if round == 351 then M.__newindex = nil end
  for i = 1, 3 do store(t, i, round) end
  store(t, "x" .. round % 3, round)
  store(t, -round, round)
  if round % 50 == 1 or #log > 0 and round < 310 and #t ~= 3 then
    print(round, #t, rawget(t, -round), rawget(t, "x" .. round % 3))
  end
end
print(#log, log[1], log[15], log[25], log.x2, log[-350])

-- The store itself is made in a loop whose metatable changes on the way.
local function grow(t, n, at, meta)
  for i = 1, n do
    if i == at then meta.__newindex = note end
    t[i] = i
  end
  meta.__newindex = nil
  return #t
end
for i = 1, 40 do log = {} grow(setmetatable({}, M), 30, 100, M) end
print(grow(setmetatable({}, M), 30, 20, M), #log, log[1])
log = {}
print(grow(setmetatable({}, M), 30, 1, M), #log, log[30])

-- Holes are filled, and metamethods see stores to them.
local P = class()
for round = 1, 100 do
  local t = setmetatable({ 1, "a", 3, 4, 5 }, P)
  t[2] = nil
  if round == 99 then P.__newindex = note end
  log = {}
  t[2] = round
  if round >= 98 then print(round, rawget(t, 2), log[1]) end
end

-- table.insert and table.remove on objects.
local L = class()
local removed = 0
for round = 1, 300 do
  local t = setmetatable({}, L)
  if round == 298 then L.__newindex = note end
  if round == 299 then L.__newindex = nil L.__len = function() return 2 end end
  if round == 300 then L.__len = nil L[0] = "zero" L[4] = "four" end
  log = {}
  for i = 1, 5 do table.insert(t, i) end
  local ok = pcall(table.insert, t, 2, "second")
  local a, b = table.remove(t), table.remove(t, 1)
  removed = removed + (tonumber(a) or 0)
  if round > 296 then
    print(round, ok, a, b, rawlen(t), #log, rawget(t, 1), rawget(t, 2), rawget(t, 3))
    local empty = setmetatable({}, L)
    print(table.remove(empty), rawlen(empty))
  end
end
print(removed)

-- Functions of the library read elements of objects that are there without their __index.
local O = class()
O[3] = "third of the class"
O[7] = "seventh of the class"
local function object(...) return setmetatable({ ... }, O) end
for round = 1, 3 do
  local o = object(5, 2, 9, 4)
  table.insert(o, 2, 7)
  print(table.remove(o, 1), table.concat(o, " "), table.unpack(o, 1, 3))
  print((pcall(table.sort, o)))
  print(table.concat(o, " "), table.unpack(o))
  print(table.unpack(o, 4, 8))
  print(pcall(table.concat, o, " ", 1, 5))
  print(table.concat(object("a", "b", nil, "d"), " ", 1, 4))
  local holed = object("a", "b", nil, "d", "e")
  table.insert(holed, 1, "new")
  print(rawget(holed, 3), rawget(holed, 4), rawget(holed, 5))
  holed = object("a", "b", nil, "d", "e")
  print(table.remove(holed, 2), rawget(holed, 2), rawget(holed, 3))
  print((pcall(table.sort, o, function(a, b) return a > b end)))
  print(table.concat(o, " "))
  if round == 1 then O.__newindex = note log = {} end
  if round == 2 then O.__newindex = nil O.__len = function() return 3 end end
end
print(#log)

-- A comparator that removes elements, which then come from the class.
do
  local S = class()
  for i = 1, 8 do S[i] = 100 + i end
  local o = setmetatable({ 5, 3, 8, 1, 7, 2, 6, 4 }, S)
  local seen = 0
  pcall(table.sort, o, function(a, b)
    if rawlen(o) > 6 then o[#o] = nil end
    seen = seen + (a > 100 and 1 or 0) + (b > 100 and 1 or 0)
    return a < b
  end)
  print(seen > 0)
end

-- Weak tables gain elements while the collector is at work.
local Weak = class({ __mode = "v" })
local kept, missing = {}, 0
for round = 1, 60 do
  local weak = setmetatable({}, Weak)
  kept = {}
  for i = 1, 40 do
    kept[i] = { i }
    weak[i] = kept[i]
    weak[-i] = kept[i]
    if i % 8 == 0 then collectgarbage("step") end
  end
  for i = 1, 40 do
    if weak[i] ~= kept[i] or weak[-i] ~= kept[i] then missing = missing + 1 end
  end
end
print(missing)
