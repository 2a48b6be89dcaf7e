-- covers: code that is built for the type of a value which nothing uses: stores over numbers, tests
-- of truth, and fields with __newindex
-- expect: ok
--| 0
--| 81
--| 107970	30
--| 93720	1740
--| 59990	10

-- a store over a number does not store the tag
local function count(o, k)
  if k == 0 then return end
  local a = o.n + 1
  count(o, k - 1)
  o.n = a
  if o.kill == k then o.n = "s" end
end
local wrong = 0
for i = 1, 6000 do
  local o = { n = 1, kill = -1 }
  if i > 3000 and i % 37 == 0 then o.kill = 4 end
  count(o, 6)
  if o.n ~= 2 then wrong = wrong + 1 end
end
print(wrong)

-- a store over a number does not ask __newindex
local function clear(o, k)
  if k == 0 then return end
  local a = o.n + 1
  clear(o, k - 1)
  o.n = a
  if o.kill == k then o.n = nil end
end
local log = 0
local meta = { __newindex = function(t, k, v) log = log + 1 rawset(t, k, v) end }
for i = 1, 6000 do
  local o = setmetatable({ n = 1, kill = -1 }, meta)
  if i > 3000 and i % 37 == 0 then o.kill = 4 end
  clear(o, 6)
end
print(log)

-- tables and numbers count as true
local yes, no = 0, 0
local X = { v = 1 }
local function test(o, k)
  if k == 0 then return end
  yes = yes + o.x.v
  test(o, k - 1)
  if o.x then yes = yes + 1 else no = no + 1 o.x = o.y end
  if not not o.x then yes = yes + 1 else no = no + 1 end
  if o.kill == k then o.x = nil end
end
for i = 1, 6000 do
  local o = { x = X, kill = -1, y = X }
  if i > 3000 and i % 100 == 0 then o.kill = 5 end
  test(o, 6)
end
print(yes, no)
yes, no = 0, 0
local function loop(o, k)
  if k == 0 then return end
  local x = o.x
  if x then yes = yes + x.v end
  for j = 1, 3 do
    loop(o, k - 1)
    if o.x then yes = yes + 1 else no = no + 1 end
    if o.kill == k then o.x = nil end
  end
end
for i = 1, 600 do
  local o = { x = X, kill = -1 }
  if i > 300 and i % 20 == 0 then o.kill = 2 end
  loop(o, 4)
end
print(yes, no)

-- a variable of a loop whose first iteration is peeled
yes, no = 0, 0
local function shift(t, n, x, z)
  local s = x + z
  for i = 1, n do
    if x then yes = yes + 1 else no = no + 1 end
    x = z
    z = t[i]
  end
  return s
end
local t = {}
for i = 1, 100 do t[i] = i end
for i = 1, 600 do
  t[50] = not (i > 400 and i % 20 == 0) and 1
  shift(t, 100, 1, 2)
end
print(yes, no)
