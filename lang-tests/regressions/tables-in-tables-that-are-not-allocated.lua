-- Tables that hold each other, none of which the optimizing compiler allocates (2.1).
-- expect: ok
--| 403600	true	401
--| 5750	5750	7	77
--| new	true	91.0	420
--| -50	0

local function cyclic(i)
  local a, b = { n = i }, { n = 2 }
  a.b = b
  b.a = a
  return a.b.a.n + b.a.b.n
end
local function moved(i)
  local a = { p = { x = i } }
  local p = a.p
  a = { q = p }
  return a.q.x, rawequal(a.q, p)
end
local function either(i)
  local a, b, o = { n = i }, { n = -i }, {}
  if i % 2 == 0 then o.r = a else o.r = b end
  return o.r.n
end
local function deep(i)
  local a = {}
  a.b = {}
  a.b.c = {}
  a.b.c.d = i
  a.b.c.e = a.b.c.d + 1
  return a.b.c.e
end
local function twice(i, last)
  local s = { v = i }
  local a, b = { s = s }, { s = s }
  s.v = s.v + 1
  if i == last then return a.s == b.s, a.s.v end
  return a.s.v + b.s.v
end
local sink
local function loop(n, at)
  local s = 0
  for i = 1, n do
    local o = { p = { x = i }, q = {} }
    o.q.y = { z = o.p.x }
    o.p.x = 7
    s = s + o.q.y.z + o.p.x
    if i == at then sink = o end
  end
  return s
end
local s = 0
for i = 1, 400 do
  local x, same = moved(i)
  s = s + cyclic(i) + either(i) + deep(i) + x + (same and 1 or 0) + twice(i)
end
print(s, twice(400, 400))
for _ = 1, 60 do loop(10) end
print(loop(100), loop(100, 77), sink.p.x, sink.q.y.z)

-- An exit builds a table that two others hold, once.
local function left(n, at)
  local total = 0
  for i = 1, n do
    local shared = { v = i }
    local a, b = { s = shared, k = 1 }, { s = shared, k = 2 }
    if i == at then shared.v = i + 0.5 end
    total = total + a.s.v * b.k
    if i == at then return a, b, total end
  end
  return total
end
for _ = 1, 60 do left(20) end
local a, b, total = left(20, 9)
a.s.v = "new"
print(b.s.v, a.s == b.s, total, left(20))

-- A table that leaves a loop with another one in it, which others hold as well.
local kept
local function later(n)
  local total = 0
  for r = 1, n do
    local inner = { x = r }
    while true do
      local holder = { l = inner }
      if r > 0 then
        kept = holder
        break
      end
    end
    inner.x = -1
    total = total + kept.l.x
  end
  return total
end
for _ = 1, 200 do later(50) end
local function holders(k)
  local j = 0
  while true do
    j = j + 1
    local h, g
    do
      local shared = { x = j }
      h = { l = shared }
      g = { l = shared }
    end
    if j == k then return h, g end
  end
end
local different = 0
for _ = 1, 300 do
  local h, g = holders(3)
  if h.l ~= g.l then different = different + 1 end
end
print(later(50), different)
