-- Machine code concatenates three or more values whose metamethods run in the interpreter: each
-- result leads to the next metamethod, and only the last one to the code.
-- expect: ok
--| x	x	x
--| (a..b)c	a,(b,(c,d))	5
--| caught	boom
--| yielded	y1	y2	y3	done
--| tail	native	callable	varargs
--| closed	3
--| 150	150

-- a new function for each object never has code
local function object(name, source)
  return setmetatable({ name = name }, { __concat = load(source)() })
end
local X = "return function(a, b) return 'x' end"
local function three(d, n)
  local last
  for p = 1, n do last = d[p] .. "," .. d[p] end
  return last
end
local objects = {}
for i = 1, 60 do objects[i] = object("o" .. i, X) end
print(three(objects, 60), three(objects, 60), three(objects, 60))

-- in which order, and how often
local NAMES = [[
  local function name(v) return type(v) == "table" and v.name or tostring(v) end
  return function(a, b)
    Calls = Calls + 1
    local right = name(b)
    if right:find(",") then right = "(" .. right .. ")" end
    local meta = getmetatable(type(a) == "table" and a or b)
    return setmetatable({ name = name(a) .. "," .. right }, meta)
  end]]
Calls = 0
local function four(a, b, c, d)
  local r
  for _ = 1, 40 do r = a .. b .. c .. d end
  return r.name
end
local named
for _ = 1, 3 do
  Calls = 0
  local fresh = {}
  for i = 1, 4 do fresh[i] = object(("abcd"):sub(i, i), NAMES) end
  named = four(fresh[1], fresh[2], fresh[3], fresh[4])
end
assert(Calls == 120)
local function left(a, b, c)
  local r
  for _ = 1, 40 do r = ((a .. b) .. c) end
  return r
end
local P = "return function(a, b) return '(' .. tostring(a) .. '..' .. tostring(b) .. ')' end"
local shown = setmetatable({}, { __concat = load(P)(), __tostring = function() return "a" end })
local count = 0
local function five(o, n)
  for i = 1, n do
    local s = o .. i .. "," .. i .. o
    if s == "x" then count = count + 1 end
  end
end
for i = 1, 5 do five(object("f", X), 1) end
print(left(shown, "b", "c"), named, count)

-- errors, and a coroutine that waits inside
local function fails(d, n)
  for p = 1, n do local _ = d[p] .. 1 .. d[p] end
end
local B = [[return function(a, b)
  if type(b) == 'table' and b.fails then error('boom', 0) end
  return a
end]]
local broken = {}
for i = 1, 60 do broken[i] = object("b", B) end
fails(broken, 60)
broken[60].fails = true
for _ = 1, 20 do
  local ok, e = pcall(fails, broken, 60)
  assert(not ok and e == "boom")
end
print("caught", select(2, pcall(fails, broken, 60)))
local Y = "return function(a, b) coroutine.yield('y') return 'v' end"
local waiting = {}
for i = 1, 60 do waiting[i] = object("w", Y) end
local yields
for _ = 1, 4 do
  yields = 0
  local co = coroutine.wrap(function() three(waiting, 60) return "done" end)
  while co() == "y" do yields = yields + 1 end
end
assert(yields == 60 * 2)
local co = coroutine.wrap(function() return waiting[1] .. 1 .. waiting[2] .. 2 .. waiting[3] end)
local seen = {}
for i = 1, 3 do seen[i] = co() .. i end
print("yielded", seen[1], seen[2], seen[3], "done")

-- other kinds of functions
local function last(a, b, c, n)
  local r
  for _ = 1, n do r = a .. b .. c end
  return r
end
local T = "local function f() return 'tail' end return function(a, b) return f(a, b) end"
local V = "return function(...) local t = {...} return select('#', ...) == 2 and 'varargs' end"
local native = setmetatable({}, { __concat = function() return "native" end })
getmetatable(native).__concat = rawequal
local called = setmetatable({}, { __call = load("return function() return 'callable' end")() })
local callable = setmetatable({}, { __concat = called })
assert(last(native, 1, native, 40) == false)
print(last(object("t", T), 1, object("t", T), 40), "native", last(callable, 2, callable, 40),
  last(object("v", V), 3, object("v", V), 40))
local C = [[return function(a, b)
  local v <close> = setmetatable({}, { __close = function() Closed = Closed + 1 end })
  return 'c'
end]]
Closed = 0
last(object("c", C), 1, object("c", C), 1)
last(object("c", C), "s", "t", 1)
print("closed", Closed)

-- with a hook, and with the collector at work
local lines = 0
debug.sethook(function() lines = lines + 1 end, "l")
three(objects, 60)
debug.sethook()
assert(lines > 120)
local sum = 0
for r = 1, 3 do
  local fresh = {}
  for i = 1, 50 do
    fresh[i] = object("g", "return function(a, b) return {} and 'x' .. #tostring({}) end")
  end
  for i = 1, 50 do
    if #(fresh[i] .. 1 .. fresh[i]) > 0 then sum = sum + 1 end
  end
end
print(sum, sum)
