-- Tables that loops make and that code outside of these loops uses (2.1, 3.3.5).
-- expect: ok
--| beside	400	true
--| within	3250	50
--| replaced	number number number number number number number number number number
--| above	1 1 1 1 -0.5 -0.5 -0.5 -0.5 -0.5 -0.5
--| failing	attempt to perform arithmetic on a nil value (local 'b')

-- A table that one loop makes, and that a loop beside it reads after a store between them.
local shared
local function beside(n)
  local c = { x = 0 }
  local i, s = 0, 0
  repeat
    i = i + 1
    c = { x = i }
    for k = 1, 2 do s = s + k end
  until i >= n
  shared = c
  c.x = 5
  local same = true
  for _ = 1, n do
    s = s + c.x
    same = same and c == shared
  end
  return s, same
end
local s, same
for _ = 1, 60 do s, same = beside(50) end
print("beside", s, same)

-- The same in each iteration of a loop around both.
local V = {}
V.__index = V
local function new(x, y) return setmetatable({ x = x, y = y }, V) end
local function within(n)
  local total, count = 0, 0
  for i = 1, n do
    local a = new(0, 0)
    local j = 0
    repeat
      a = new(i, j)
      for k = 1, 2 do total = total + k end
      j = j + 1
    until j >= 3
    shared = a
    shared.x = 7
    local m = 0
    repeat
      total = total + a.x
      for k = 1, 2 do total = total + k * a.x end
      m = m + 1
    until m >= 2
    if rawequal(shared, a) then count = count + 1 end
  end
  return total, count
end
for _ = 1, 10 do within(50) end
print("within", within(50))

-- A register that holds a table only in an inner loop, where a collection looks at it.
local function replaced(p, n, m)
  local q, total = p, 0
  for i = 1, n do
    shared = { a = i }
    p = { x = i }
    for _ = 1, 3 do total = total + p.x end
    p = q
    if i == m then return type(p) end
  end
  return type(p)
end
local found = {}
for k = 1, 10 do found[k] = replaced(1, 100, k > 5 and 30 + k or -1) end
print("replaced", table.concat(found, " "))

-- A table that only a slot of an inlined frame holds, which a collection clears.
local function less(y) return { y = y - 1 } end
local function above(n, y)
  local e
  for _ = 1, n do
    e = less(y)
    shared = { x = 8 }
  end
  return e
end
for k = 1, 10 do found[k] = above(60, k > 4 and 0.5 or 2).y end
print("above", table.concat(found, " "))

-- A table that is allocated for a loop that fails at once.
local function failing(n)
  local a, b, c, d, e
  local i = 0
  repeat
    local j = 0
    while j < 4 do
      j = j + 1
      e = new(-0.0 + 6, i % 7)
    end
    d, c = b + a, a
  until i >= n
  for _ = 1, n do d = shared(4 + e.x) end
  return c, d
end
local message
for _ = 1, 6 do
  local _
  _, message = pcall(failing, 60)
end
print("failing", (message:gsub("^.-:%d+: ", "")))
