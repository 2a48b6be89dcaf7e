-- covers: stores to fields, by constant and computed names, at places that see more shapes than
-- caches have entries, with nil values, __newindex, classes, dictionaries and collections
-- expect: ok
--| 38424
--| 62322
--| 37200 37200 36039 312
--| 1920	18	v	v
--| 255 455 655 -55
--| 1665	60
--| 27360
--| 1text1 2text2 3text3 4text4 5text5 6text6 7text7 8text8 9text9 10text10 11text11 12text12
--| true	true
local NAMES = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" }
local makers = {}
for n = 1, 12 do
  local fields = {}
  for i = 1, n do fields[i] = NAMES[i] .. n .. " = " .. i end
  makers[n] = load("return { " .. table.concat(fields, ", ") .. ", v = 1, w = 2 }")
end
local function objects(n)
  local all = {}
  for i = 1, n do all[i] = makers[i]() end
  return all
end
local function store(o, v) o.v = v end
local function bump(o) o.v, o.w = o.v + 1, o.v end
local function put(o, name, v) o[name] = v end
local function sum(all)
  local s = 0
  for _, o in ipairs(all) do s = s + (o.v or 1000) * 3 + (o.w or 100) end
  return s
end

local all = objects(12)
for round = 1, 400 do
  for _, o in ipairs(all) do bump(o) store(o, o.v + 1) end
end
print(sum(all))
for round = 1, 200 do
  for i, o in ipairs(all) do put(o, round % 2 == 0 and "v" or "w", i * round) end
end
print(sum(all))

-- nil, and values of other kinds
for round = 1, 30 do
  for i, o in ipairs(all) do
    store(o, nil)
    put(o, "w", round % 3 == 0 and i / 2 or nil)
  end
  if round % 10 == 0 then io.write(sum(all), " ") end
  for i, o in ipairs(all) do store(o, i) put(o, "w", { i }) put(o, "w", i) end
end
print(sum(all))

-- a field that is nil, in an object whose metatable has __newindex
local log = {}
local meta = { __newindex = function(o, k, v) log[#log + 1] = k rawset(o, k, v) end }
for i, o in ipairs(all) do
  if i % 2 == 0 then setmetatable(o, meta) end
end
for round = 1, 40 do
  for i, o in ipairs(all) do
    if round % 20 == 0 then o.v = nil end
    store(o, round)
    put(o, "w", round)
    if round == 33 then put(o, "fresh" .. i, i) end
  end
end
print(sum(all), #log, log[1], log[#log])

-- classes, whose fields others inherit
local classes = objects(10)
local heirs = {}
for i, class in ipairs(classes) do
  class.__index = class
  heirs[i] = setmetatable({}, class)
end
local function inherited()
  local s = 0
  for _, o in ipairs(heirs) do s = s + o.v end
  return s
end
for round = 1, 60 do
  for i, class in ipairs(classes) do store(class, round + i) end
  if round % 20 == 0 then io.write(inherited(), " ") end
end
for i, class in ipairs(classes) do put(class, "v", -i) end
print(inherited())

-- dictionaries, and objects that become some
local mixed = objects(9)
for i = 1, 3 do
  for k = 1, 60 do mixed[i]["key" .. k] = k end
end
for round = 1, 60 do
  for i, o in ipairs(mixed) do store(o, round) put(o, "w", i) end
  if round == 30 then
    for k = 1, 60 do mixed[7]["key" .. k] = k end
  end
end
print(sum(mixed), mixed[7].key60)

-- new fields, and objects that are allocated while names and shapes die
local total = 0
for round = 1, 60 do
  local fresh = objects(12)
  for i, o in ipairs(fresh) do
    store(o, round)
    put(o, "n" .. round % 7, i)
    put(o, "w", 1)
    total = total + o.v + o["n" .. round % 7] + o.w
  end
  if round % 15 == 0 then collectgarbage() end
end
print(total)
local young, old = {}, objects(12)
collectgarbage()
collectgarbage()
for i, o in ipairs(old) do
  store(o, { i })
  put(o, "w", "text" .. i)
end
collectgarbage()
for i, o in ipairs(old) do young[i] = o.v[1] .. o.w end
print(table.concat(young, " "))
print(pcall(store, nil, 1) == false, pcall(put, {}, nil, 1) == false)
