-- Tables, closures, loops and metamethods that machine code makes, runs and calls itself, each
-- often enough to be compiled (3.4.9, 3.3.5, 2.4).
-- expect: ok

local ROUNDS = 400

-- Constructors: nil among the values, a field twice, values that are sometimes nil.
local function point(x, y) return { x = x, y = y, z = nil, name = "p" } end
local function twice(v) return { a = v, a = nil, b = 1 } end
local function list(head, tail) return { head = head, tail = tail } end
local function grown(n) local t = {} t.x = n t.y = n + 1 t.z = n + 2 return t end
for i = 1, ROUNDS do
  local p = point(i, i + 0.5)
  assert(p.x == i and p.y == i + 0.5 and p.z == nil and p.name == "p" and next(p) ~= nil)
  local t = twice(i)
  assert(t.a == nil and t.b == 1)
  local l
  for n = 1, 3 do l = list(n, l) end
  assert(l.head == 3 and l.tail.head == 2 and l.tail.tail.tail == nil)
  local g = grown(i)
  assert(g.x == i and g.y == i + 1 and g.z == i + 2)
  p.x, p.extra = nil, i
  local count = 0
  for _ in pairs(p) do count = count + 1 end
  assert(count == 3)
end
for i = 1, 10 do
  local p = point(nil, i)
  assert(p.x == nil and p.y == i)
end

-- Closures that share variables, in either order.
local function counters(n)
  local a, b = n, 2 * n
  local up = function() a = a + 1 return a end
  local both = function() b = b + a return b end
  local down = function() a = a - 1 return a end
  return up, both, down
end
for i = 1, ROUNDS do
  local up, both, down = counters(i)
  assert(up() == i + 1 and both() == 3 * i + 1 and down() == i and both() == 4 * i + 1)
end

-- Loops: elements, holes, fields, nodes, and fields cleared on the way.
local function sum(t)
  local s, n = 0, 0 for _, v in pairs(t) do s, n = s + v, n + 1 end return s, n
end
local function isum(t) local s = 0 for i, v in ipairs(t) do s = s + i * v end return s end
local function clear(t) for k in pairs(t) do t[k] = nil end return next(t) end
for i = 1, ROUNDS do
  local t = { 1, 2, nil, 4, x = 5, y = 6 }
  t[1000], t["k" .. i], t[true], t[2.5] = 7, 8, 9, 10
  local s, n = sum(t)
  assert(s == 52 and n == 9 and isum(t) == 5 and isum({ 0.5, 1.5, 2.5 }) == 11)
  assert(clear(t) == nil and sum(t) == 0)
  assert(isum(setmetatable({ 1 }, { __index = function(_, k)
    if k < 4 then return k end
  end })) == 14)
end
assert(not pcall(function() for _ in pairs(nil) do end end))
for i = 1, ROUNDS do
  local t, seen = { a = 1, b = 2, [1] = 3 }, 0
  for _, v in next, t do seen = seen + v end
  assert(seen == 6)
end

-- Metamethods: values, tests, yields and errors.
local V = {}
V.__index = V
local function new(x) return setmetatable({ x = x }, V) end
V.__add = function(a, b)
  return new((type(a) == "table" and a.x or a) + (type(b) == "table" and b.x or b))
end
V.__unm = function(a) return new(-a.x) end
V.__lt = function(a, b) if a.x == 13 then coroutine.yield(13) end return a.x < b.x end
V.__le = function(a, b) return a.x <= b.x, "more" end
V.__eq = function(a, b) return a.x == b.x end
V.__call = function(self, a, ...) return self.x + a, ... end
V.__idiv = function() end
V.__band = function(a) error("no " .. a.x, 0) end
local function use(a, b)
  local s = a + b + 1
  local lt, le, eq, ne = a < b, a <= b, a == b, a ~= b
  local first, second = a(1, "second")
  return (-s).x, lt, le, eq, ne, first, second, a // b
end
local function turns()
  for i = 1, ROUNDS do
    local n, lt, le, eq, ne, first, second, nothing = use(new(i), new(14))
    assert(n == -(i + 15) and lt == (i < 14) and le == (i <= 14) and eq == (i == 14)
      and ne == (i ~= 14))
    assert(first == i + 1 and second == "second" and nothing == nil)
  end
  return "end"
end
local co = coroutine.wrap(turns)
assert(co() == 13 and co() == "end")
local function fails(a) return a & 1 end
for i = 1, ROUNDS do
  local ok, message = pcall(fails, new(i))
  assert(not ok and message == "no " .. i)
end
local log = 0
local P = setmetatable({}, {
  __index = function(_, k) return k .. "!" end,
  __newindex = function(t, k, v) log = log + v rawset(t, k .. "_", v) end,
})
for i = 1, ROUNDS do
  P.field = i
  assert(P.other == "other!" and P.field == "field!" and rawget(P, "field_") == i)
end
assert(log == ROUNDS * (ROUNDS + 1) // 2)

-- Tail calls of library functions give all results.
local function tail(...) return select(2, ...) end
local function asserted(...) return assert(...) end
local function inserted(t, v) return table.insert(t, v) end
local function removed(t) return table.remove(t) end
for i = 1, ROUNDS do
  local t = {}
  assert(select("#", tail(1, 2, i)) == 2 and select("#", asserted(1, nil, i)) == 3)
  assert(select("#", inserted(t, i)) == 0 and removed(t) == i and select("#", removed(t)) == 1)
end

-- Concatenation: lengths around the limit of short strings, floats, metamethods.
V.__concat = function(a, b)
  return (type(a) == "table" and a.x or a) .. "|" .. (type(b) == "table" and b.x or b)
end
for i = 1, ROUNDS do
  local s = ("x"):rep(i % 45)
  local c = s .. i .. s .. -i
  assert(#c == 2 * #s + 2 * #tostring(i) + 1 and c:sub(-#tostring(i) - 1) == "-" .. i)
  assert(i .. "" == tostring(i) and 1.5 .. s .. math.mininteger == "1.5" .. s
    .. "-9223372036854775808")
  assert("a" .. i .. new(i) == "a" .. i .. "|" .. i)
end
