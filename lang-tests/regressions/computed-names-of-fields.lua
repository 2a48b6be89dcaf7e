-- expect: ok
--| 28201.5
--| 45750	45750	30500
--| 40000m
--| 400m
--| false
--| 400k
--| 2012name?	400	id	size	size
--| 218	60
--| nil	nil	nil
--| 1000=50 10=50 1=50 2000=50 20=50 2=50 3000=50 300=50 3=50 a!=50 b!=50 nil=50
--| 80400
-- Fields stored by computed keys, under names that the program also writes after a dot.
local function copy(t)
  local r = {}
  for k, v in pairs(t) do r[k] = v end
  return r
end
local function count(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end
local source = { x = 1, y = 2, name = "p", other_than_a_field = true }
local sum = 0
for i = 1, 300 do
  local c = copy(source)
  c.x = i
  if i % 3 == 0 then c["x"] = nil end
  if i % 5 == 0 then c["na" .. "me"] = "q" end
  if i % 7 == 0 then c.x = 7 end
  if i % 11 == 0 then c[("y"):rep(1)] = nil c.y = 1.5 end
  if i % 13 == 0 then c[i] = i end
  sum = sum + (c.x or 0) + c.y + #c.name + count(c)
end
print(sum)

-- Objects that are decoded, in several orders, with and without some of the fields.
local orders = { { "id", "name", "size" }, { "size", "id" }, { "name", "size", "id", "tags" } }
local ids, sizes, names = 0, 0, 0
for i = 1, 300 do
  local o = {}
  for j, key in ipairs(orders[i % 3 + 1]) do o[key] = i + j end
  ids, sizes, names = ids + o.id, sizes + o.size, names + (o.name or 0)
  o.id, o.tags = nil, nil
  if rawget(o, "id") ~= nil or next(o) == nil then error "wrong" end
end
print(ids, sizes, names)

-- Methods that are copied, and one that is replaced afterwards.
local Base = {}
function Base.area(self) return self.w * self.h end
function Base.describe(self) return self:area() .. self.unit end
local Square = { unit = "m" }
for k, f in pairs(Base) do rawset(Square, k, f) end
Square.__index = Square
local function describe(n)
  local last
  for i = 1, n do
    local s = setmetatable({ w = i, h = i }, Square)
    last = s:describe()
  end
  return last
end
print(describe(200))
Square["ar" .. "ea"] = function(self) return self.w + self.h end
print(describe(200))
Square["unit"] = nil
Base.unit = "k"
print((pcall(describe, 2)))
setmetatable(Square, { __index = Base })
print(describe(200))

-- __newindex that stores with rawset, and __index that computes what is absent.
local log = {}
local Logged = {
  __newindex = function(t, k, v)
    log[#log + 1] = k
    rawset(t, k, v)
  end,
  __index = function(_, k) return k .. "?" end,
}
local text
for i = 1, 200 do
  local o = setmetatable({}, Logged)
  o.id = i
  o.id = i + 1
  o.size = 2
  text = o.id .. o.size .. o.name
end
print(text, #log, log[1], log[2], log[400])

-- More names than a table takes as fields, and ones that no instruction names.
local wide = {}
for i = 1, 60 do wide["k" .. i] = i end
for i = 1, 60 do if wide["k" .. i] ~= i then error "wrong" end end
print(wide.k1 + wide.k2 + wide.k31 + wide.k32 + wide.k33 + wide.k59 + wide.k60, count(wide))
local all = {}
for _, k in ipairs { "k1", "k2", "k31", "k32", "k59", "k60", "zz", "x", "y" } do all[k] = k end
for k in pairs(all) do all[k] = nil end
print(next(all), all.k1, all.zz)

-- Loads by computed names, of several shapes, while names come and go.
local function load(t, k) return t[k] end
local shapes = {
  { a = 1, b = 2, c = 3 },
  { b = 20, a = 10 },
  setmetatable({ c = 300 }, { __index = function(_, k) return k .. "!" end }),
  setmetatable({ a = 1000 }, { __index = { b = 2000, c = 3000 } }),
}
local found = {}
for i = 1, 600 do
  local t = shapes[i % 4 + 1]
  local v = load(t, ("abc"):sub(i % 3 + 1, i % 3 + 1))
  found[tostring(v)] = (found[tostring(v)] or 0) + 1
end
local list = {}
for k, n in pairs(found) do list[#list + 1] = k .. "=" .. n end
table.sort(list)
print(table.concat(list, " "))
local total = 0
for i = 1, 400 do
  local t = { first = i, second = i + 1, third = 0.5 }
  local key = i % 2 == 0 and "fir" or "seco"
  total = total + load(t, key .. (i % 2 == 0 and "st" or "nd"))
  if load(t, "key" .. i) ~= nil then error "it has no such field" end
  t.first = nil
  if load(t, "fir" .. "st") ~= nil then error "the field is nil" end
  if i % 100 == 0 then collectgarbage() end
end
print(total)
