-- Calls with all results of another call, and calls of library functions in tail position (3.4.10).
-- expect: ok
--| 4	43
--| 0	3
--| 63	633
--| 333	9
--| 3	0
--| 1	5
--| 4	4
--| 2	9
--| 2	2
--| 1	8
--| 8	3
--| 7
--| ho
--| false	attempt to add a 'string' with a 'number'
--| false	bad argument #1 to 'sqrt' (number expected, got table)
--| 51	4	1	2
--| true	111
--| false	bad argument #1 to 'floor' (number expected, got string)
--| false	bad argument #1 to 'floor' (number expected, got nil)
--| true	7
--| false	bad argument #1 to 'floor' (number expected, got table)
--| 1e+300
--| 0
--| 2	4
--| false
--| floor	3
--| 53
--| 10
--| true	true	true
--| true	true
--| false	bad argument #1 to 'setmetatable' (table expected, got number)
--| false	cannot change a protected metatable
--| true
--| nil
--| found	found
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got no value)
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got number)
local function try(f, ...)
  local ok, e = pcall(f, ...)
  print(ok, (tostring(e):gsub("^.-:%d+: ", "")))
end

local function hot(f, ...)
  for _ = 1, 400 do f(...) end
  return f(...)
end
local floor, max, sqrt, char, sub, byte, insert = math.floor, math.max, math.sqrt, string.char,
  string.sub, string.byte, table.insert

-- the last argument is a call, of a function with one result, none, several, or a varying number
local function one(x) return x + 1 end
local function none(x) end
local function two(x) return x, x * 2 end
local function some(x) if x > 5 then return x end return x, x, x end
local function class(x) return setmetatable({ x = x }, { __index = one }) end
local meta = { __index = function(t, k) return k end }
local function shared(x) return setmetatable({ x = x }, meta) end
local function add(a, b, c) return (a or 0) + (b or 0) * 10 + (c or 0) * 100 end
local function count(...) return select("#", ...) end

print(hot(function(x) return (add(one(x))) end, 3), hot(function(x) return (add(x, one(x))) end, 3))
print(hot(function(x) return (add(none(x))) end, 3),
  hot(function(x) return (add(x, none(x))) end, 3))
print(hot(function(x) return (add(two(x))) end, 3), hot(function(x) return (add(x, two(x))) end, 3))
print(hot(function(x) return (add(some(x))) end, 3), hot(function(x) return (add(some(x))) end, 9))
print(hot(function(x) return (count(some(x))) end, 3),
  hot(function(x) return (count(none(x))) end, 9))
print(hot(function(x) return (count(one(one(one(x))))) end, 3),
  hot(function(x) return add(one(one(x))) end, 3))
print(hot(function(x) return (floor(sqrt(x))) end, 17),
  hot(function(x) return floor(sqrt(x)) end, 17))
print(hot(function(x) return (max(x, floor(x + 0.5))) end, 1.7),
  hot(function(x) return max(floor(x), 7) end, 9))
print(hot(function(x) return class(one(x)).x end, 1),
  hot(function(x) return shared(one(x)).x end, 1))
print(hot(function(x) return shared(shared(x)).x.x end, 1),
  hot(function(x) return shared(x)[x] end, 8))
print(hot(function(x) return ({ one(x), two(x) })[3] end, 4), #hot(function(x) return { x,
  two(x) } end, 4))
print(hot(function(x) local t = {} insert(t, one(x)) insert(t,
  floor(x)) return #t + t[1] + t[2] end, 2))
print(hot(function(x) return char(byte(x)) .. sub(x, #x) end, "hello"))
try(hot, function(x) return add(one(x)) end, "x")
try(hot, function(x) return floor(sqrt(x)) end, {})

-- the types change after the code has become hot
local function nest(x) return (add(1, one(floor(x)))) end
local function tail(x) return floor(x) end
local function tail_of(f, x) return f(x) end
print(hot(nest, 4.5), hot(tail, 4.5), hot(tail_of, floor, 1.5), hot(tail_of, one, 1))
try(nest, "10")
try(nest, "x")
try(nest, nil)
try(tail, "7.5")
try(tail, {})
print(tail(1e300))
print(tail(-0.0))
print(hot(tail_of, two, 2))
math.floor, floor = nil, function(x) return "floor", x end
print(nest == nil or pcall(nest, 4.5))
print(tail(3))

-- a result that is a variable of a closure, and one that is used after a collection
local function captured(x)
  local y = one(x)
  local f = function() y = y + 1 return y end
  return add(f(), one(f()))
end
print(hot(captured, 1))
local function kept(x)
  return #(tostring(one(x)) .. sub("abc", one(0)) .. table.concat({ one(x), one(x) }, ","))
end
print(hot(kept, 10))

-- setmetatable in its forms
local C = { __gc = false }
C.__index = C
local function new(t) return setmetatable(t, C) end
local function again(t) return (setmetatable(setmetatable(t, C), meta)) end
local function bare(t) setmetatable(t, C) return getmetatable(t) == C end
print(getmetatable(hot(new, {})) == C, getmetatable(hot(again, {})) == meta, hot(bare, {}))
for _ = 1, 400 do new({}) new({ 1, 2 }) new({ a = 1, b = 2 }) bare({}) end
print(getmetatable(new({ a = 1 })) == C, bare({ 1 }))
try(new, 1)
try(new, setmetatable({}, { __metatable = 1 }))
local collected = 0
C.__gc = function() collected = collected + 1 end
local function make(n) for i = 1, n do new({ i }) end end
make(500)
collectgarbage() collectgarbage()
print(collected > 400)
local watched = {}
local base = setmetatable({}, { __index = watched })
local function missing(k) return base[k] end
print(hot(missing, "field"))
setmetatable(watched, { __index = { field = "found" } })
print(missing("field"), hot(missing, "field"))
try(setmetatable, {})
try(setmetatable, {}, 1)
