-- Metamethods that are inlined in hot code (2.4).
-- expect: ok
--| 5.5
--| 8.0
--| -2.5	nil
--| 4	4
--| 2.0	3
--| -2.5	10.5
--| false	1
--| true
--| true
--| 321
--| 6	3	7	2
--| false	62: attempt to perform arithmetic on a nil value (field 'x')
--| false	100: attempt to perform arithmetic on a nil value (local 'x')
--| 3	4.5
--| false	true	false	false	false	true	true
--| 3	4	3	7.5
--| 5	1.5
--| true	true
--| first	true	first	5
--| 4.5
--| false	121: too much
--| false	120: attempt to add a 'number' with a 'string'
--| false	120: attempt to index a number value (local 'q')
--| 4.5
--| true	78
--| t|stack traceback:|F:137: in metamethod 'mod'|F:145: in function F:143>|[C]: in function 'pcall' r=1
--| 20336
--| ownabc	ownnothing
--| ownlate
--| late	late
--| false	166: no field
--| ownnone	nil	1	ownnone
--| 42	84
--| 4.5
--| changed	changed
--| object	object
--| false	100: attempt to perform arithmetic on a table value (local 'x')
--| 2	2
--| false	100: attempt to perform arithmetic on a table value (local 'x')
--| own	own
--| true	new
--| n	3
--| 5
local function try(f, ...)
  local ok, e = pcall(f, ...)
  print(ok, (tostring(e):gsub("%S+%.lua:", "")))
end

local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end

local V = {}
V.__index = V
local function vec(x, y) return setmetatable({ x = x, y = y }, V) end
V.__add = function(a, b)
  if type(b) == "number" then return vec(a.x + b, a.y + b) end
  return vec(a.x + b.x, a.y + b.y)
end
V.__sub = function(a, b) return a.x - b.x, "dropped" end
V.__mul = function(a, k)
  if type(a) == "number" then a, k = k, a end
  return vec(a.x * k, a.y * k)
end
V.__unm = function(a) return vec(-a.x, -a.y) end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end
V.__lt = function(a, b) return a.x < b.x end
V.__le = function(a, b) if a.x > b.x then return nil end return 0 end
V.__len = function(a) return a.x + a.y end
V.__band = function(a, b) end
V.__idiv = function(a, b) local n = 0 for i = 1, b do n = n + a.x // i end return n end

local a, b = vec(1, 2), vec(3.5, 4)
print(hot(function() local c = a + b c = c + a return c.x end))
print(hot(function() local c = b c = c + c + 1 return c.x end))
print(hot(function() local x = a - b return x end), hot(function() return a & b end))
print(hot(function() return (a * 2).y end), hot(function() return (2 * a).y end))
print(hot(function() return (0.5 * a * 4).x end), hot(function(k) return (k * a).x end, 3))
print(hot(function() return (-(-a + b)).x end), hot(function() return #a + #b end))
print(hot(function() return a == b, a ~= b, a == a end), hot(function() return a // 3 end))
print(hot(function() return a < b and b > a and not (b < a) end))
print(hot(function() return a <= b and not (b <= a) and a <= a end))
print(hot(function()
  local n = 0
  for i = 1, 3 do
    local c = vec(i, 2)
    if c == a then n = n + 1 end
    if c ~= a then n = n + 10 end
    if c < b then n = n + 100 end
    while c >= b do n = n + 1000 c = a end
  end
  return n
end))

-- the same operator on other operands, once it is compiled
local function add(x, y) return x + y end
print(hot(add, a, b).y, add(1, 2), add("3", 4), hot(add, a, 1).x)
try(add, a, {})
try(add, nil, 1)
print(hot(add, 1, 2), hot(add, b, a).x)
local function eq(x, y) return x == y end
print(hot(eq, a, b), eq(1, 1), eq("x", "y"), eq(a, 1), eq({}, a), eq(a, a), eq(vec(1, 2), a))
local function len(x) return #x end
print(hot(len, a), len("four"), len({ 1, 2, 3 }), hot(len, b))

-- where the metamethod is that of the second operand, or of either
local N = setmetatable({}, { __sub = function(x, y) return x end, __lt = function() return 1 end })
print(hot(function(x) return x - N end, 5), hot(function(x) return x - N end, 1.5))
print(hot(function() return {} < N end), hot(function(x) return x < N end, 3))
local W = setmetatable({}, { __sub = function() return "first" end })
local function minus(x, y) return x - y end
print(hot(minus, W, N), minus(N, W) == N, minus(setmetatable({}, {}), W), hot(minus, "5", N))

-- frames of inlined metamethods: errors, positions, names, variables, yields
V.__div = function(p, q)
  local sum = p.x + q.x
  if sum > 1000 then error("too much") end
  return sum
end
local function div(p, q)
  local before = "before"
  local r = p / q
  return r, before
end
print(hot(div, a, b))
try(div, a, vec(2000, 1))
try(div, a, vec("x", 1))
try(div, a, 5)
local seen
V.__mod = function(p, q)
  if q.x == 77 then
    local name, value = debug.getlocal(2, 3)
    seen = (debug.traceback("t"):gsub("%S+%.lua", "F"):gsub("\n%s*", "|"):match("^(.-)|[^|]*try"))
    seen = seen .. " " .. tostring(name) .. "=" .. tostring(value and value.x)
    debug.setlocal(2, 3, vec(9, 9))
  end
  return p.x + q.x
end
local function mod(p, q)
  local r = p
  r = r % q
  return r
end
print(hot(mod, a, b))
try(mod, a, vec(77, 0))
print(seen)
V.__pow = function(p, n) if n > 1 then return coroutine.yield(n) end return n end
local co = coroutine.wrap(function()
  local sum = 0
  for i = 1, 200 do
    local keep = i
    sum = sum + a ^ (i % 50 == 0 and 2 or 1) + keep
  end
  return sum
end)
local r = co()
while r == 2 do r = co(10) end
print(r)

-- `__index` functions
local P = setmetatable({ own = "own" }, { __index = function(t, k)
  if k == "fail" then error("no field") end
  return k == "nothing" and nil or t.own .. k, 2
end })
print(hot(function() return P.abc end), hot(function() return P.nothing end))
local function get(t) return t.late end
print(hot(get, P))
P.late = "late"
print(get(P), hot(get, P))
try(function() return P.fail end)
local function missing(t) return t.none end
print(hot(missing, P), missing({}), missing({ none = 1 }), hot(missing, P))
local G = { size = function(t) return t.n * 2 end }
local M = { twice = function(t) return t.size * 2 end }
local O = { __index = function(t, k)
  local g = G[k]
  if g then return g(t) end
  return M[k]
end }
local o = setmetatable({ n = 21 }, O)
print(hot(function(t) return t.size end, o), hot(function(t) return t:twice() end, o))

-- metamethods that change while code is hot
local function change(event, f)
  V[event] = f
end
print(hot(add, a, b).x)
change("__add", function() return "changed" end)
print(add(a, b), hot(add, a, b))
change("__add", setmetatable({}, { __call = function() return "object" end }))
print(add(a, b), hot(add, a, b))
change("__add", nil)
try(add, a, b)
change("__add", function(p, q) return p.y end)
print(add(a, b), hot(add, a, b))
setmetatable(a, nil)
try(add, a, 1)
setmetatable(a, { __add = function() return "own" end })
print(add(a, b), hot(add, a, b))
setmetatable(a, V)
local self = 0
V.__add = function(p, q)
  self = self + 1
  if self == 250 then V.__add = function() return "new" end end
  return self
end
try(hot, add, a, b)
debug.setmetatable(1, { __add = function() return "number" end, __sub = function() return "n" end })
print(hot(function(x) return x - N end, 5), hot(add, 1, 2))
debug.setmetatable(1, nil)
print(hot(function(x) return x - N end, 5))
