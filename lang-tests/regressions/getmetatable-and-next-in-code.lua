-- expect: ok
--| 1	meta
--| 2	hidden
--| 3	false
--| 4	table true
--| 5	none
--| 6	table false
--| 7	none
--| 8	none
--| 9	none
--| true	false
--| false
--| 1	true	0
--| 2	false	3
--| 3	false	1
--| 4	false	3
--| 5	false	2
--| 6	true	0
--| 2	nil	nil
--| invalid key to 'next'
--| bad argument #1 to 'next' (table expected, got number)
--| false	invalid key to 'next'
-- `getmetatable` and `next` with one result are called without a frame.

local meta = {}
local plain = setmetatable({}, meta)
local hidden = setmetatable({}, { __metatable = "hidden" })
local shown = setmetatable({}, { __metatable = false })
local Class = {}
local object = setmetatable({}, { __index = Class })

local function describe(v)
  local m = getmetatable(v)
  if m == nil then return "none" end
  if m == meta then return "meta" end
  if type(m) == "table" then return "table " .. tostring(m.__index == Class) end
  return tostring(m)
end
local values = { plain, hidden, shown, object, {}, "string", 1, true, print }
for i = 1, 80 do
  for n, v in ipairs(values) do
    local text = describe(v)
    if i == 80 then print(n, text) end
  end
  if i == 40 then meta.__metatable = "later" end
  if i == 60 then meta.__metatable = nil end
end
print(getmetatable(object) == getmetatable(object), getmetatable(object) == Class)
print((pcall(getmetatable)))

local function is_empty(t) return next(t) == nil end
local function count(t)
  local n, k = 0, next(t)
  while k ~= nil do
    n, k = n + 1, (next(t, k))
  end
  return n
end
local function first(t, k) return (next(t, k)) end
local tables = { {}, { 1, 2, 3 }, { a = 1 }, { 1, nil, 3, b = 2 }, { [1.5] = true, [-3] = 1 } }
local emptied = { x = 1, y = 2, 5 }
emptied.x, emptied.y, emptied[1] = nil, nil, nil
tables[#tables + 1] = emptied
for i = 1, 80 do
  for n, t in ipairs(tables) do
    local a, b = is_empty(t), count(t)
    if i == 80 then print(n, a, b) end
  end
end
for i = 1, 80 do
  local t = {}
  for k = i, 1, -1 do t[k * 2] = k end
  if count(t) ~= i then print("wrong", i) end
end
for i = 1, 40 do
  first({ 1, 2 }, 1)
  first({ x = 1 })
end
print(first({ 10, 20 }, 1), first({ 10, 20 }, 2), first({ [2.5] = 1 }, 2.5))
print((select(2, pcall(first, { 1 }, "unknown")):gsub("^.*:%d+: ", "")))
print((select(2, pcall(first, 5)):gsub("^.*:%d+: ", "")))
print(pcall(first, { 1 }, 1.0))
