-- Loops that call nothing keep what they have loaded, and their first round is peeled by the
-- optimizing compiler: what a round changes under another name, what turns into another kind later,
-- and what the collector does between two rounds is seen all the same.
-- expect: ok
--| 1	22.5 45 0 0.5 3 2.5 7 6.75 850 5085 40 5 4 210 36 8 441 found 166 46 4
--| true
--| attempt to perform arithmetic on a table value (field '?')
--| 6.5	15

local function fill(n, f) local t = {} for i = 1, n do t[i] = f(i) end return t end

-- the sum is an integer in the first round only, or in no round
local function sum(t, n)
  local s = 0
  for i = 1, n do s = s + t[i] end
  return s
end
local floats, ints = fill(9, function(i) return i / 2 end), fill(9, function(i) return i end)

-- variables that change their kinds later
local function turning(n)
  local a, b = 1, 0.5
  for i = 1, n do
    if i == 7 then a = a + 0.25 end
    if i % 2 == 0 then a, b = b, a end
    b = b + 1
  end
  return a, b
end

-- two names for one table
local function aliases(t, u, n)
  local s = 0
  for i = 1, n do
    s = s + t.x
    u.x = s
    s = s + t.x + u[i]
    t[i] = s
  end
  return s
end

-- shapes and elements that the loop changes under another name
local function grown(t, u, n)
  local s = 0
  for i = 1, n do
    s = s + (t.x or 0) + #u
    if i == 5 then u.y = i u[#u + 1] = i end
  end
  return s, t.y, #t
end

-- a list, which ends in the middle of a round
local function walk(node, limit)
  local s = 0
  while node do
    s = s + node.v
    if s > limit then break end
    node = node.next
  end
  return s, node and node.v
end

-- loops in loops, and jumps out of both
local function nested(t, n, what)
  local s = 0
  for i = 1, n do
    local row = t[i]
    for j = 1, n do
      local v = row[j]
      if v == what then goto found end
      if v < 0 then goto next end
      s = s + v
    end
    ::next::
  end
  do return s end
  ::found::
  return "found", s
end

-- variables that closures share
local function shared(n)
  local x = 1
  local function twice() x = x * 2 return x end
  local s = 0
  for i = 1, n do s = s + x if i % 8 == 0 then s = s + twice() end end
  return s, x
end

-- a repeat loop with variables of its own
local function halves(x)
  local n = 0
  repeat local y = x / 2 x = y n = n + 1 until y < 1
  return n, x
end

-- finalizers and weak tables in the rounds of a loop around
local weak = setmetatable({}, { __mode = "v" })
local count = { n = 0 }
local function collected(n)
  local s = 0
  for i = 1, n do
    weak[1] = {}
    setmetatable({}, { __gc = function() count.n = count.n + 1 end })
    if i % 16 == 0 then collectgarbage("step") end
    local before = count.n
    for j = 1, 10 do
      if weak[1] then s = s + 1 end
      if count.n < before then s = -1000000 end
    end
  end
  return s >= 0
end

local list
for i = 20, 1, -1 do list = { v = i, next = list } end
local rows = fill(6, function(i) return fill(6, function(j) return i * j end) end)
local last
for round = 1, 40 do
  local r = table.pack(sum(floats, 9), sum(ints, 9), sum(ints, 0), sum(floats, 1))
  r[#r + 1], r[#r + 2] = turning(4)
  r[#r + 1], r[#r + 2] = turning(12)
  local t = fill(12, function(i) return i end)
  t.x = 1
  r[#r + 1] = aliases(t, t, 6)
  r[#r + 1] = aliases(t, { x = 2, 1, 2, 3, 4, 5, 6 }, 6)
  t = { x = 1, 1, 2, 3 }
  r[#r + 1], r[#r + 2], r[#r + 3] = grown(t, t, 9)
  r[#r + 1] = walk(list, 1000)
  r[#r + 1], r[#r + 2] = walk(list, 30)
  r[#r + 1] = nested(rows, 6, -1)
  r[#r + 1], r[#r + 2] = nested(rows, 6, 20)
  r[#r + 1], r[#r + 2] = shared(20)
  r[#r + 1], r[#r + 2] = halves(1000)
  local text = table.concat(r, " ", 1, 21)
  if text ~= last then print(round, text) last = text end
end
print(collected(40))
-- operands of another kind end it where it is, with the message of the round
print(select(2, pcall(sum, { 1.5, 2.5, {} }, 3)):match(":%d+: (.*)"))
print(sum({ 1, "2", 3.5 }, 3), sum(setmetatable({}, { __index = function(_, i) return i end }), 5))
