-- expect: ok
--| 1	2	3
--| a
--| 0
--| b	nil	a
--| 3
--| 3	last
--| false	cannot resume dead coroutine
--| true
--| true	10
--| true
--| true	11	12	10
--| true	1
--| true	1	end
--| false	cannot resume dead coroutine
--| 2810	1000
--| false	switches-between-coroutines.lua:116: switches-between-coroutines.lua:109: at 150
--| 149
--| false	switches-between-coroutines.lua:122: text	false	cannot resume dead coroutine
--| false	true	false	cannot resume dead coroutine
--| false	true	false	cannot resume dead coroutine
--| false	true	false	cannot resume dead coroutine
--| 1
--| in pcall
--| false	with value
--| field
--| add
--| of field	of add
--| nil
--| iterated	once
--| once
--| tail
--| done	twice
--| false	cannot resume dead coroutine
--| false	closed
--| closed
--| true	dead	nil
--| false	cannot resume dead coroutine
--| true
--| true	in function 'coroutine.yield'
--| false	cannot resume non-suspended coroutine
--| false	cannot resume non-suspended coroutine
--| false	cannot resume non-suspended coroutine
--| true	end
--| false	cannot resume non-suspended coroutine
--| 13494
--| 10
--| 200
--| 3000
--| 50000
--| deep
--| bottom
--| true
-- Switches that need no frame of the library, and those around them that do.

local yield, resume, wrap = coroutine.yield, coroutine.resume, coroutine.wrap
local create = coroutine.create

-- no, one and several values both ways, fixed and open numbers of results
local function exchange(...)
  local a = yield(...)
  local b, c = yield(a)
  yield()
  local n = select("#", yield(b, c, a))
  return n, (yield(n))
end
local w = wrap(exchange)
print(w(1, 2, 3))
print(w("a", "b"))
print(select("#", w("b")))
print(w(7, 8, 9))
print(w(nil, nil, nil))
print(w("last", "lost"))
print(pcall(w))

local co = create(exchange)
print(resume(co))
print(resume(co, 10))
print(resume(co, 11, 12))
print(resume(co))
print(resume(co, nil))
print(resume(co, "end"))
print(resume(co))

-- generators that recur deeply, and end by an error in the middle
local function walk(tree)
  if tree then
    for v in wrap(function() walk(tree.left) end) do yield(v) end
    yield(tree.value)
    for v in wrap(function() walk(tree.right) end) do yield(v) end
  end
end
local function build(low, high)
  if low > high then return nil end
  local middle = (low + high) // 2
  return { value = middle, left = build(low, middle - 1), right = build(middle + 1, high) }
end
local sum, count = 0, 0
for round = 1, 5 do
  for v in wrap(function() walk(build(1, 200)) end) do
    sum, count = sum + v * count % 7, count + 1
  end
end
print(sum, count)

local function in_order(tree)
  if tree then
    in_order(tree.left)
    if tree.value == 150 then error("at " .. tree.value) end
    yield(tree.value)
    in_order(tree.right)
  end
end
local seen = 0
print(pcall(function()
  for v in wrap(function() in_order(build(1, 200)) end) do seen = v end
end))
print(seen)

-- errors with values of every kind, after some turns
for _, value in ipairs { "text", 12, true, {} } do
  local f = wrap(function() yield(1) yield(2) error(value) end)
  f() f()
  local ok, e = pcall(f)
  print(ok, e == value or e, pcall(f))
end
print(select("#", pcall(wrap(function() yield() error() end))))

-- yields in a protected call, in a metamethod, in an iterator, by a tail call
local f = wrap(function()
  print(pcall(function()
    local x = yield("in pcall")
    error("with " .. x, 0)
  end))
  local t = setmetatable({}, { __index = function(_, k) return yield(k) end,
    __add = function(a, b) return yield("add") end })
  print(t.field, t + 1)
  for v in function(_, c) return (yield(c)) end do print("iterated", v) end
  return yield("tail")
end)
print(f())
print(f("value"))
print(f("of field"))
print(f("of add"))
print(f("once"))
print(f(nil))
print(f("done", "twice"))
print(pcall(f))

-- variables that are closed when the function fails
local log = {}
local g = wrap(function()
  local v <close> = setmetatable({}, { __close = function(_, e) log[#log + 1] = tostring(e) end })
  yield(1)
  error("closed", 0)
end)
g()
print(pcall(g))
print(table.concat(log, " "))
local h = create(function()
  local v <close> = setmetatable({}, { __close = function(_, e) log[#log + 1] = tostring(e) end })
  yield(1)
end)
resume(h)
print(coroutine.close(h), coroutine.status(h), log[2])
print(resume(h))

-- a hook that is set while a coroutine waits
if debug then
  local lines = 0
  local k = wrap(function() while true do yield(1) end end)
  k() k()
  debug.sethook(function() lines = lines + 1 end, "l")
  k()
  k()
  debug.sethook()
  k()
  print(lines >= 2)
  local counted = 0
  local c = create(function() for i = 1, 10 do yield(i) end end)
  resume(c)
  debug.sethook(c, function() counted = counted + 1 end, "l")
  resume(c) resume(c)
  debug.sethook(c)
  resume(c)
  print(counted > 0, debug.traceback(c):match("in function 'coroutine.yield'"))
end

-- a coroutine that resumes itself, one that waits, and one that runs
local inner
inner = create(function()
  yield()
  print(resume(inner))
  print(resume(coroutine.running()))
  local outer = inner
  print(wrap(function() return resume(outer) end)())
  yield("end")
end)
resume(inner)
print(resume(inner))
local self
self = wrap(function() yield() return pcall(self) end)
self()
print(self())

-- many switches, with functions called in between that are compiled
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function numbers(n) for i = 1, n do yield(fib(i % 10), i) end return "over" end
local total = 0
for a, b in wrap(function() numbers(3000) end) do total = total + a * b % 11 end
print(total)

-- more values than the stack has room for
local many = wrap(function(...)
  local args = { yield(...) }
  while true do args = { yield(table.unpack(args)) } end
end)
many()
for _, n in ipairs { 10, 200, 3000, 50000 } do
  local values = {}
  for i = 1, n do values[i] = i end
  print(select("#", many(table.unpack(values))))
end

-- depth
local function nest(n)
  if n == 0 then yield("deep") return "bottom" end
  local inside = wrap(nest)
  yield(inside(n - 1))
  return inside()
end
local deep = wrap(nest)
print(deep(100))
print(deep())
local endless
local function more() endless = wrap(more) yield() return endless() end
print(pcall(function() local e = wrap(function() return more() end) e() return e() end))
