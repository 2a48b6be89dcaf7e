-- expect: ok
--| 300 600	150.0 1.5	300 0.25	a 300	1	300	300	true false
--| 300 300 1 2	s 300 {300} 300.5	1 2 3 6	true true false	300 301	n300
--| 389700.0
--| 53943.75
--| 30751	6 5 4 4 5 6
-- The items of a constructor become the array of the new table, in machine code if their number is
-- small.

local function point(x, y) return {x, y} end
local function box(a, b) return {a, b, 1, 2} end
local function mixed(a) return {"s", a, {a}, a + 0.5} end
local function ints(a) return {1, 2, 3, a % 7} end
local function bools(a) return {true, a > 5, false} end
local function rec(a) return {a, a + 1, name = "n" .. a} end
local function show(t)
  local r = {}
  for i = 1, #t do
    local v = t[i]
    r[i] = type(v) == "table" and "{" .. tostring(v[1]) .. "}" or tostring(v)
  end
  return table.concat(r, " ")
end
local s = 0
for i = 1, 300 do
  local p = point(i, i * 2)
  local q = point(i / 2, 1.5)
  local r = point(i, 0.25)
  local t = point("a", i)
  local u = point(i, nil)
  local v = point(nil, i)
  local w = point(true, false)
  local b, m, n, o, c = box(i, i), mixed(i), ints(i), bools(i), rec(i)
  s = s + p[1] + p[2] + q[1] + q[2] + r[1] + r[2] + t[2] + u[1] + v[2]
  s = s + #b + #m + #n + #o + #c + c[2]
  if i == 300 then
    print(show(p), show(q), show(r), show(t), #u, u[1], v[2], show(w))
    print(show(b), show(m), show(n), show(o), show(c), c.name)
  end
end
print(s)

-- The collector visits the table while its items are computed, and reclaims what it has not visited
-- afterwards.
local ballast = {}
for i = 1, 3000 do ballast[i] = { i, tostring(i) } end
local kept = {}
local function step(v, n)
  for _ = 1, n do collectgarbage("step", 1) end
  local garbage = {}
  for k = 1, 20 do garbage[k] = { k, k } end
  return v
end
local function keep(i, n)
  return { step(i, n), { i } }, { step(i, n), i + 1 }, { step(i / 2, n), i / 4 }
end
for i = 1, 150 do
  local t = {}
  kept[i] = t
  t[1], t[2], t[3] = keep(i, i % 30)
end
collectgarbage()
for i = 1, 3000 do ballast[i] = { i, i + 1 } end
local sum = 0
for i = 1, 150 do
  local a, b, c = kept[i][1], kept[i][2], kept[i][3]
  if #a ~= 2 or #b ~= 2 or #c ~= 2 then print("lost", i) end
  sum = sum + a[1] + a[2][1] + b[1] + b[2] + c[1] + c[2]
end
print(sum)

-- Elements that are there before the items.
local function both(a) return { [2] = a, a, x = a } end
local function over(a, k) return { [k] = "over", a, a + 1 } end
for i = 1, 60 do
  local t, u, v = both(i), over(i, 1), over(i, 3)
  if t[1] ~= i or t[2] ~= i or u[1] ~= i or #v ~= 3 or v[3] ~= "over" then print("wrong", i) end
end

-- A constructor in a loop that keeps what it has loaded.
local function pairs_of(list)
  local n = 0
  for i = 1, #list do
    local p = { list[i], list[#list + 1 - i] }
    n = n + p[1] * p[2]
    list[i] = p[2]
  end
  return n
end
local list = { 1, 2, 3, 4, 5, 6 }
local total = 0
for i = 1, 200 do total = total + pairs_of(list) end
print(total, table.concat(list, " "))
