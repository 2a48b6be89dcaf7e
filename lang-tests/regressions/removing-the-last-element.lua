-- expect: ok
--| 1	90	66	nil
--| 2	96.0	66	nil
--| 3	24	66	nil
--| 4	24	66	nil
--| 5	24	66	nil
--| 6	64	66	nil
--| 1535	0	nil	nil
--| y	5	4	5	2	1	x	1	1
--| 7	0	nil	nil	nil	nil	nil
--| 2	8	9	9	1
--| 0	2 2 1
--| 0	4	5	5	nil
-- Code lowers the length of an array itself where its last element is removed.

local function pop(t, n) local v = t[n] t[n] = nil return v end
local function empty(t, n)
  local s, lengths = 0, 0
  for i = n, 1, -1 do
    local v = t[i]
    t[i] = nil
    lengths = lengths + #t
    s = s + (type(v) == "number" and v or 1)
    s = s + (t[i] == nil and 1 or 1000) + (t[i + 1] and 1000 or 0)
  end
  return s, lengths, next(t)
end
local function walk(limit)
  local stack, top, visited = {1}, 1, 0
  while top > 0 do
    local node = stack[top]
    stack[top] = nil
    top = top - 1
    visited = visited + node % 2 + 1
    if node < limit then
      stack[top + 1] = node * 2
      stack[top + 2] = node * 2 + 1
      top = top + 2
    end
  end
  return visited, #stack, stack[1], next(stack)
end
local function fill(make, n) local t = {} for i = 1, n do t[i] = make(i) end return t end
local makers = {
  function(i) return i end,
  function(i) return i + 0.5 end,
  function(i) return i % 2 == 0 end,
  function(i) return "s" .. i end,
  function(i) return {i} end,
  function(i) return i % 3 == 0 and {} or i end,
}
for round = 1, 120 do
  for n, make in ipairs(makers) do
    local a, b, c = empty(fill(make, 12), 12)
    if round == 120 then print(n, a, b, c) end
  end
  walk(64)
end
print(walk(512))

-- holes before the last element, first elements, keys that are not there, and metatables
local holes = {1, "x", nil, 4, 5, "y"}
print(pop(holes, 6), #holes, pop(holes, 4), pop(holes, 5), #holes, holes[1], holes[2], next(holes))
local one = {7}
print(pop(one, 1), #one, pop(one, 1), pop(one, 0), pop(one, -1), pop({}, 0), pop({}, 1))
one[1] = 8
one[2] = 9
print(#one, one[1], one[2], pop(one, 2), #one)
local seen = {}
local watched = setmetatable({1, 2}, {__newindex = function(_, k) seen[#seen + 1] = k end})
for i = 1, 3 do pop(watched, 2) end
pop(watched, 1)
pop(watched, 1)
print(#watched, table.concat(seen, " "))
local mixed = {1, 2, 3, x = 4, [10] = 5}
for i = 3, 1, -1 do pop(mixed, i) end
print(#mixed, mixed.x, mixed[10], pop(mixed, 10), mixed[10])
for i = 1, 200 do
  local t = fill(makers[5], 3)
  pop(t, 3)
  t[3] = {i}
  if i % 50 == 0 then collectgarbage() end
  assert(t[3][1] == i and t[2][1] == 2)
end
