-- Loads of elements by keys that tables do not have, where `__index` is a function that may be
-- inlined: what it is called with and returns, and what changes while loops run.
-- expect: ok
--| proxy	5050	5050.5	20
--| memo	102334155	41
--| keys	1:i	2.5:f	x:s	true:b	nil:n
--| later	a	a	b	own	own	nil
--| constant	11	12	3
--| results	nil	1	nil	first
--| other	inner 7	outer	9	5
--| error	7	element 7 is missing
--| yields	1	2	3	done
--| removed	1225	nil
--| not a table	attempt to index a number value (local 't')
--| varargs	2	2	4
--| stored	30	30	60
--| far	own	computed far2

-- a proxy, with integers, floats and strings as keys
local data = {}
for i = 1, 100 do data[i] = i end
local proxy = setmetatable({}, { __index = function(_, k) return data[k] end })
local function sum(t, n, by)
  local s = 0
  for i = 1, n, by do s = s + t[i] end
  return s
end
local s
for _ = 1, 60 do s = sum(proxy, 100, 1) end
data.half, data.x = 0.5, 20
local names = { "half", "x" }
local function field(t, k) return t[k] end
local half, x
for _ = 1, 400 do half, x = field(proxy, names[1]), field(proxy, names[2]) end
print("proxy", s, s + half, x)

-- a memo, whose function loads from it and stores to it
local calls = 0
local memo
memo = setmetatable({}, { __index = function(t, n)
  calls = calls + 1
  local v = n < 2 and n or t[n - 1] + t[n - 2]
  t[n] = v
  return v
end })
for _ = 1, 200 do
  for n = 0, 40 do local _ = memo[n] end
end
print("memo", memo[40], calls)

-- keys of all types
local function kind(_, k)
  return tostring(k) .. ":" .. (math.type(k) or type(k)):sub(1, 1)
end
local kinds = setmetatable({}, { __index = kind })
local keys = { 1, 2.5, "x", true, nil }
local seen = {}
for i = 1, 500 do
  for n = 1, 5 do seen[n] = kinds[keys[n]] end
end
print("keys", table.unpack(seen, 1, 5))

-- the function, the element and the metatable change
local class = { __index = function() return "a" end }
local object = setmetatable({}, class)
local function get(t, k) return t[k] end
local later = {}
for i = 1, 900 do
  local v = get(object, i % 3)
  if i == 400 then class.__index = function() return "b" end end
  if i == 600 then rawset(object, 1, "own") end
  if i == 700 then object[1], object[2], object[0] = "own", "own", "own" end
  if i == 800 then object[1] = nil setmetatable(object, nil) end
  if i == 100 or i == 300 or i == 500 or i == 610 or i == 750 or i == 802 then
    later[#later + 1] = i == 802 and get(object, 1) or v
    if i == 802 then later[6] = tostring(get(object, 1)) end
  end
end
print("later", table.unpack(later, 1, 6))

-- constant integer keys
local ten = setmetatable({ [3] = 3 }, { __index = function(_, k) return k + 10 end })
local a, b, c
for _ = 1, 600 do a, b, c = ten[1], ten[2], ten[3] end
print("constant", a, b, c)

-- no result, one of several, and the last
local none = setmetatable({}, { __index = function() end })
local many = setmetatable({}, { __index = function(_, k)
  if k == 1 then return 1, 2, 3 end
  if k == 2 then return end
  return "first", "second"
end })
local r
for _ = 1, 400 do r = { none[1], many[1], many[2], many[3], n = 4 } end
print("results", r[1], r[2], r[3], r[4])

-- functions that load by other functions
local outer = setmetatable({}, { __index = function(_, k)
  local inner = setmetatable({}, { __index = function(_, n) return "inner " .. n end })
  return k == 7 and inner[k] or k == 8 and "outer" or ten[-1]
end })
local five = setmetatable({}, { __index = function(t, k) return #t + 5 end })
local o7, o8, o9, o5
for _ = 1, 300 do o7, o8, o9, o5 = outer[7], outer[8], outer[9], five[1] end
print("other", o7, o8, o9, o5)

-- errors from inside
local strict = setmetatable({ 1, 2, 3, 4, 5, 6 }, { __index = function(_, k)
  error("element " .. k .. " is missing", 0)
end })
local reached, message
for round = 1, 100 do
  local ok
  ok, message = pcall(function()
    for i = 1, 10 do
      reached = i
      local _ = strict[i]
    end
  end)
  assert(not ok)
end
print("error", reached, message)

-- yields from inside
local waits = setmetatable({}, { __index = function(_, k) return coroutine.yield(k) or k end })
local results
for _ = 1, 100 do
  local co = coroutine.wrap(function()
    local t = {}
    for i = 1, 3 do t[i] = waits[i] end
    return "done"
  end)
  results = { co(), co(), co(), co() }
end
print("yields", table.unpack(results))

-- the metatable goes while the loop runs
local total
for _ = 1, 30 do
  local t = setmetatable({}, { __index = function(t, k)
    if k == 49 then setmetatable(t, nil) end
    return k
  end })
  total = 0
  local last
  for i = 1, 50 do
    last = t[i]
    total = total + (last or 0)
  end
  r = last
end
print("removed", total, r)

-- other objects
local why
for i = 1, 300 do
  local t = i == 300 and 5 or ten
  local ok, e = pcall(function() return t[i] end)
  if not ok then why = e end
end
local function index(t, i) return t[i] end
for i = 1, 300 do index(ten, i) end
why = select(2, pcall(index, 5, 1)):gsub("^.-: ", "")
print("not a table", why)

-- extra arguments
local count = setmetatable({}, { __index = function(...) return select("#", ...) end })
local second = setmetatable({}, { __index = function(_, ...) local k = ... return k end })
local n, k
for _ = 1, 400 do n, k = count[9], second[4] end
print("varargs", n, count[1], k)

-- the function stores to a table and an upvalue that the loop reads
local box, up = { v = 0 }, 0
local counting = setmetatable({}, { __index = function(_, d)
  box.v = box.v + d
  up = up + d
  return box.v + up
end })
local last
for _ = 1, 200 do
  box.v, up = 0, 0
  for i = 1, 30 do
    local v = box.v
    last = counting[1]
    assert(box.v == v + 1 and up == i)
  end
end
print("stored", box.v, up, last)

-- methods whose names are constants that the instruction cannot hold
local source = { "local o = ... local t = {" }
for i = 1, 300 do source[#source + 1] = "'k" .. i .. "'," end
source[#source + 1] = "} return o:far1(), o:far2()"
local far = load(table.concat(source))
local own = setmetatable({ far1 = function() return "own" end }, { __index = function(_, k)
  return function() return "computed " .. k end
end })
local far1, far2
for _ = 1, 300 do far1, far2 = far(own) end
print("far", far1, far2)
