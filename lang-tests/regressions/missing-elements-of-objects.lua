-- covers: integer keys that an object does not have, along chains of `__index` tables that change,
-- end, or lead to functions
-- expect: ok
--| 7	40 50 nil nil nil	5
--| 6	40 50 nil seven nil	nil minus nil	far
--| 12	40 50 nil nil nil	nil false nil
--| 1	false	nil
--| 6	nil nil eight nil
--| 7	nil nil nil nil
--| 1 2 3 nil nil nil 7 nil
--| 1 2 3 nil five f6 f7 f8
--| 1 2 3 f4 f5 nil nil nil
--| 1 2 3 nil nil nil nil nil
--| 1 2 3 nil nil nil nil nil
--| attempt to index a number value
--| 2	20 third 40 nil 60
--| nil	3
--| false
--| 20	nil	3
--| 9	nil
--| attempt to index a nil value (local 't')
local Class = {}
Class.__index = Class
function Class.size(o) return o.n end

local function new(n)
  local o = setmetatable({ n = n }, Class)
  for i = 1, n do o[i] = i * 10 end
  return o
end
local function absent(o, from, to)
  local count = 0
  for i = from, to do
    if o[i] == nil then count = count + 1 end
  end
  return count
end
local function values(o, from, to)
  local t = {}
  for i = from, to do t[#t + 1] = tostring(o[i]) end
  return table.concat(t, " ")
end

local o = new(5)
for round = 1, 100 do absent(o, 1, 12) end
print(absent(o, 1, 12), values(o, 4, 8), o:size())

-- the class gains elements, inside its array and outside, and loses them
Class[7], Class[-3], Class[1 << 40] = "seven", "minus", "far"
print(absent(o, 1, 12), values(o, 4, 8), values(o, -4, -2), o[1 << 40])
for round = 1, 100 do absent(o, -5, 12) end
Class[7], Class[-3] = nil, false
print(absent(o, -5, 12), values(o, 4, 8), values(o, -4, -2))

-- false is found, nil is not
Class[6] = false
print(absent(o, 6, 7), o[6], o[7])
Class[6] = nil

-- a class of the class, by a metatable that has nothing else
local Base = { [8] = "eight" }
setmetatable(Class, { __index = Base })
print(absent(o, 1, 12), values(o, 6, 9))
Base[8] = nil
print(absent(o, 1, 12), values(o, 6, 9))

-- a metatable without __index gets one while a loop runs
local plain = setmetatable({ 1, 2, 3 }, {})
for round = 1, 100 do absent(plain, 1, 8) end
local function changing(t, at, change)
  local found = {}
  for i = 1, 8 do
    if i == at then change() end
    found[i] = tostring(t[i])
  end
  return table.concat(found, " ")
end
for round = 1, 60 do changing(plain, 9) end
print(changing(plain, 6, function() getmetatable(plain).__index = { [5] = "five", [7] = "7" } end))
print(changing(plain, 6, function()
  getmetatable(plain).__index = function(t, k) return "f" .. k end
end))
print(changing(plain, 6, function() getmetatable(plain).__index = nil end))
print(changing(plain, 6, function() setmetatable(plain, nil) end))
print(changing(plain, 5, function() setmetatable(plain, { __index = string }) end))
local function message(...)
  return (select(2, pcall(...)):gsub("^.-:%d+: ", ""))
end
print(message(changing, plain, 5, function() setmetatable(plain, { __index = 1 }) end))

-- holes inside the array
local holes = new(8)
holes[3], holes[5] = nil, nil
for round = 1, 100 do absent(holes, 1, 9) end
Class[3] = "third"
print(absent(holes, 1, 9), values(holes, 2, 6))
Class[3] = nil

-- chains that are longer than any, and one that ends in itself
local chain = {}
for i = 1, 150 do chain = setmetatable({}, { __index = chain }) end
print(chain[1], absent(chain, 1, 3))
local ring = {}
setmetatable(ring, { __index = ring })
print((pcall(function() return ring[1] end)))

-- objects and others at one place
local computed = setmetatable({}, { __index = function(_, k) return k end })
local mixed = { new(2), { 1, 2, 3 }, computed, "x" }
local function probe(t, k) return t[k] end
for round = 1, 200 do
  for i = 1, 3 do probe(mixed[i], round % 9) end
end
print(probe(mixed[1], 2), probe(mixed[1], 3), probe(mixed[2], 3))
print(probe(mixed[3], 9), probe(mixed[4], 1))
print(message(probe, nil, 1))
