-- expect: ok
--| 1	6: 3 6 9 12 15 18
--| 2	6: 0.5 1.0 1.5 2.0 2.5 3.0
--| 3	6: false true false true false true
--| 4	6: 1! 2! 3! 4! 5! 6!
--| 5	6: s1 s2 s3 s4 s5 s6
--| 6	nil	nil	3	6
--| 7	6: first 0.5 0.75 1.0 1.25 1.5
--| 5: 1 2 3 4 5	5: 1.5 2.5 3.5 4.5 5.5	5: true true true true true	6
--| 60
--| 66900.0
-- The first element of an array allocates its buffer, in machine code if the table has neither
-- other elements nor a metatable.

local function fill(n, value)
  local t = {}
  for i = 1, n do t[i] = value(i) end
  return t
end

local function show(t)
  local list = {}
  for i = 1, #t do list[i] = tostring(t[i]) end
  return #t .. ": " .. table.concat(list, " ")
end

local values = {
  function(i) return i * 3 end,
  function(i) return i / 2 end,
  function(i) return i % 2 == 0 end,
  function(i) return { i } end,
  function(i) return "s" .. i end,
  function(i) if i > 2 then return i end return nil end,
  function(i) if i > 1 then return i / 4 end return "first" end,
}

for round = 1, 30 do
  for n, value in ipairs(values) do
    local t = fill(6, function(i)
      local v = value(i)
      if type(v) == "table" then return v[1] .. "!" end
      return v
    end)
    if round == 30 and n ~= 6 then print(n, show(t)) end
    if round == 30 and n == 6 then print(n, t[1], t[2], t[3], t[6]) end
  end
end

-- One site each, so that the type of the value is known.
local function integers() local t = {} for i = 1, 5 do t[i] = i end return t end
local function floats() local t = {} for i = 1, 5 do t[i] = i + 0.5 end return t end
local function booleans() local t = {} for i = 1, 5 do t[i] = true end return t end
local function tables() local t = {} for i = 1, 5 do t[i] = { i } end return t end
for i = 1, 50 do
  local a, b, c, d = integers(), floats(), booleans(), tables()
  if i == 50 then print(show(a), show(b), show(c), d[1][1] + d[5][1]) end
end

-- The hash part already has the second element, or the table has a metamethod.
local function first(t, v) t[1] = v return t end
local stored = 0
local meta = { __newindex = function(t, k, v) stored = stored + 1 rawset(t, k, v) end }
for i = 1, 60 do
  first({}, i)
  first({}, { i })
  local t = {}
  t[2] = "two"
  if #first(t, "one") ~= 2 then print("the second element is lost") end
  local m = setmetatable({}, meta)
  if first(m, "one")[1] ~= "one" then print("not stored") end
end
print(stored)

-- Tables that the collector has visited get a buffer, which must be kept.
local held = {}
for i = 1, 400 do held[i] = {} end
collectgarbage()
collectgarbage("step", 1)
local function begin(list, from, to)
  for i = from, to do
    local t = list[i]
    if i % 3 == 0 then t[1] = i elseif i % 3 == 1 then t[1] = { i } else t[1] = i / 2 end
    t[2] = t[1]
  end
end
for i = 1, 400, 20 do
  begin(held, i, i + 19)
  collectgarbage("step", 1)
  for _ = 1, 50 do local _ = { {}, {} } end
end
collectgarbage()
local sum = 0
for i = 1, 400 do
  local v = held[i][1]
  if v ~= held[i][2] then print("changed", i) end
  sum = sum + (type(v) == "table" and v[1] or v)
end
print(sum)
