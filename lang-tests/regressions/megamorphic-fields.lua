-- Fields and methods at accesses that meet many shapes (2.4).
-- expect: ok
--| 373000	240
--| 401920	240
--| 430840	240
--| 459760	240
--| 488680	240
--| 517600	240
--| 4800
--| 27510
--| 27510
--| 27510
--| 27510
--| 27510
--| 520	10
--| 160
local makers = {}
for n = 1, 24 do
  -- Each kind has its fields in an order of its own.
  local names = {}
  for f = 1, n do names[#names + 1] = "f" .. f .. " = " .. f end
  makers[n] = load("local x = ... return { " .. table.concat(names, ", ") ..
    (n > 0 and ", " or "") .. "x = x, y = " .. n .. " }")
end
local function total(objects)
  local sum, absent = 0, 0
  for i = 1, #objects do
    local o = objects[i]
    sum = sum + o.x * o.y
    if o.z == nil then absent = absent + 1 end
    o.y = o.y + 1
    o.x = nil
    if o.x == nil then o.x = i end
  end
  return sum, absent
end
local objects = {}
for i = 1, 240 do objects[i] = makers[(i - 1) % 24 + 1](i) end
for round = 1, 6 do print(total(objects)) end

-- names and shapes die, and others take their place
local function probe(o, name) return o.alpha, o.beta end
local sum = 0
for round = 1, 40 do
  local made = {}
  for n = 1, 12 do
    local fields = {}
    for f = 1, n do fields[#fields + 1] = "r" .. round .. "_" .. f .. " = 1" end
    fields[#fields + 1] = (n % 2 == 0 and "alpha" or "beta") .. " = " .. n
    made[n] = load("return { " .. table.concat(fields, ", ") .. " }")()
  end
  for again = 1, 20 do
    for n = 1, 12 do
      local a, b = probe(made[n])
      sum = sum + (a or 0) - (b or 0)
    end
  end
  if round % 5 == 0 then made = nil collectgarbage() end
end
print(sum)

-- classes: methods, and fields with metamethods
local classes = {}
for n = 1, 16 do
  local C = { name = "C" .. n }
  C.__index = C
  C["pad" .. n] = n
  function C:area() return self.w * self.h + n end
  classes[n] = C
end
local log = 0
local shapes = {}
for i = 1, 160 do
  local C = classes[(i - 1) % 16 + 1]
  local o = setmetatable({}, C)
  o["k" .. i % 16] = i
  o.w, o.h = i, 2
  shapes[i] = o
end
for round = 1, 5 do
  local area = 0
  for _, o in ipairs(shapes) do area = area + o:area() + #o.name end
  print(area)
end
setmetatable(classes[3], { __index = function(_, k) log = log + 1 return k end })
setmetatable(classes[5], { __newindex = function(t, k, v) rawset(t, k, v) end })
local text = {}
for _, o in ipairs(shapes) do text[#text + 1] = tostring(o.missing) end
print(#table.concat(text), log)
for _, o in ipairs(shapes) do o.fresh = 1 end
local n = 0
for _, o in ipairs(shapes) do n = n + o.fresh end
print(n)
