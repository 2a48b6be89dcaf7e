-- expect: ok
-- A loop that goto enters in two places: what holds at one entry need not hold at the other, also
-- for values of the function that the loop is inlined into.
local function f(x, c, n)
  local s = 0
  if c then goto B end
  s = x.v
  ::A:: s = s + 1
  if s > n then return s end
  ::B:: s = s + 2
  goto A
end
local function g(x, c, n) local r = f(x, c, n) return r + x.v end
local o = { v = 1 }
for i = 1, 20000 do g(o, i % 2 == 0, 10) end
for _ = 1, 3 do
  local ok, message = pcall(g, 1, true, 10)
  assert(not ok and message:find "attempt to index a number value %(local 'x'%)")
end

local function add(x, c, n)
  local s = 0
  if c then goto B end
  s = x + 1
  ::A:: s = s + 1
  if s > n then return s end
  ::B:: s = s + 2
  goto A
end
local function twice(x, c, n) local r = add(x, c, n) return r + x end
for i = 1, 20000 do twice(i % 5, i % 2 == 0, 10) end
assert(twice(2.5, true, 10) == 14.5 and twice("7", true, 10) == 19)

-- a constant of a closure, which debug.setupvalue then changes
local K = 1
local function body(c, n, v)
  local s = 0
  if c then goto B end
  s = K
  v()
  s = s + K
  ::A:: s = s + K
  v()
  s = s + K * 1000
  if s > n then return s end
  ::B:: s = s + 2
  goto A
end
local fs = { function() end, function() return 1 end, function() return 2 end }
for i = 1, 20000 do body(i % 2 == 0, 10, fs[i % 3 + 1]) end
local z = 5
local function other() return z end
debug.setupvalue(other, 1, 6)
assert(body(true, 10, function() debug.setupvalue(body, 1, 7) end) == 7003)
