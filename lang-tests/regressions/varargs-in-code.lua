-- expect: ok
--| 0	1	3	100
--| nil	nil	c	nil
--| a	b	nil	nil
--| nil
--| nil nil	nil 1	2 1	2 1
--| nil nil nil nil	nil nil nil 1	nil 3 2 1
--| 4 3 2 1
--| 0 0 0	6 3 3	2 1 3	210 20 20
--| b	b	b	2
--| false	varargs-in-code.lua:37: bad argument #1 to 'select' (index out of range)
--| false	varargs-in-code.lua:37: bad argument #1 to 'select' (index out of range)
--| false	varargs-in-code.lua:37: bad argument #1 to 'select' (number has no integer representation)
--| false	varargs-in-code.lua:37: bad argument #1 to 'select' (number expected, got string)
--| false	nil	false	varargs-in-code.lua:37: bad argument #1 to 'select' (index out of range)
--| b	nil
--| nil nil 0	5 4 2	9	1
--| 61 x	151	y
--| q	q	p	q	1200
--| q	q	p	q	4800
--| 2	#	1
--| 2	false	varargs-in-code.lua:95: attempt to call a nil value (local 'select')
--| 1	new	2	new	2
--| 1	1	nil	1	2
--| 600	10300	30000
--| nil	0
-- Extra arguments that machine code loads where they are: by select, and by assignments of a few.
local unpack = table.unpack
local function hot(f, ...)
  local r
  for _ = 1, 200 do r = table.pack(f(...)) end
  for i = 1, r.n do r[i] = tostring(r[i]) end
  return table.concat(r, " ")
end
local function count(...) local n = select("#", ...) return n end
local function third(...) return (select(3, ...)) end
local function nth(n, ...) return (select(n, ...)) end
local function first_two(...) local a, b = ... return b, a end
local function with_parameter(p, ...) local a, b, c = ... return c, b, a, p end
local function sum(...)
  local s, n = 0, 0
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    if v then s, n = s + v, n + 1 end
  end
  return s, n, select("#", ...)
end
print(hot(count), hot(count, nil), hot(count, 1, nil, nil), hot(count, unpack({}, 1, 100)))
print(hot(third), hot(third, 1, 2), hot(third, 1, 2, "c"), hot(third, 1, 2, nil, 4))
print(hot(nth, 1, "a"), hot(nth, 2, "a", "b"), hot(nth, 5, "a"), hot(nth, 1))
print(hot(nth, 20, unpack({}, 1, 30)))
print(hot(first_two), hot(first_two, 1), hot(first_two, 1, 2), hot(first_two, 1, 2, 3))
print(hot(with_parameter), hot(with_parameter, 1), hot(with_parameter, 1, 2, 3))
print(hot(with_parameter, 1, 2, 3, 4, 5))
local numbers = {}
for i = 1, 20 do numbers[i] = i end
print(hot(sum), hot(sum, 1, 2, 3), hot(sum, nil, 2, nil), hot(sum, unpack(numbers)))

-- indexes of other kinds, and wrong ones
for i = 1, 100 do nth(i % 4 + 1, 1, 2, 3, 4) end
print(nth(-1, "a", "b"), nth(2.0, "a", "b"), nth("2", "a", "b"), nth("#", "a", "b"))
for _, wrong in ipairs({ 0, -5, 1.5, "x" }) do print(pcall(nth, wrong, 1)) end
print(pcall(nth, nil, 1), nth(math.maxinteger, 1), pcall(nth, math.mininteger, 1))
for i = 1, 100 do nth(i % 4 + 1, 1, 2, 3, 4) end
print(nth(-2, "a", "b", "c"), nth(4, 1))

-- more parameters than arguments, tail calls, recursion, and results that are passed on
local function many(a, b, c, d, ...) local e = ... return e, d, select("#", ...) end
local function tail(...) return many(...) end
local function max(first, ...)
  if select("#", ...) == 0 then return first end
  local rest = max(...)
  return first > rest and first or rest
end
print(hot(many, 1, 2), hot(tail, 1, 2, 3, 4, 5, 6), hot(max, 3, 9, 2, 7), hot(max, 1))
local function deep(n, ...)
  if n == 0 then return select("#", ...), (select(-1, ...)) end
  return deep(n - 1, n, ...)
end
print(hot(deep, 60, "x"), deep(150, "y"))

-- the stack moves while the function waits, and its extra arguments with it
local function grow(n) if n == 0 then return 0 end return 1 + grow(n - 1) end
local function moved(...)
  local before = (select(2, ...))
  local size = grow(select("#", ...) * 400)
  local a, b = ...
  return before, (select(2, ...)), a, b, size
end
for _ = 1, 100 do moved("p") end
print(coroutine.wrap(function() return moved("p", "q", "r") end)())
print(coroutine.wrap(function() return moved("p", "q", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10) end)())

-- select is another function now and then
local function chosen(select, ...) local n = select("#", ...) return n, (select(1, ...)) end
for _ = 1, 100 do chosen(select, 1, 2) end
print(chosen(select, 1, 2), chosen(function(...) return ... end, 7, 8))
print(chosen(select, 1, 2), pcall(chosen, nil, 1))

-- a debugger changes extra arguments of a function that waits
local function set(at, v) debug.setlocal(3, at, v) end
local function watched(change, ...)
  local a = (select(1, ...))
  change()
  local b, c = ...
  return a, b, c, (select(1, ...)), select("#", ...)
end
for _ = 1, 100 do watched(print and function() end, 1, 2) end
print(watched(function() set(-1, "new") end, 1, 2))
print(watched(function() set(-2, nil) end, 1, 2))

-- in loops, at the end of which the code is entered, and in coroutines
local function looped(...)
  local s = 0
  for i = 1, 300 do s = s + (select(i % 3 + 1, ...) or 100) end
  return s
end
print(looped(1, 2, 3), looped(1, 2), looped())
local function yields(...)
  local s = 0
  for i = 1, select("#", ...) do
    s = s + (coroutine.yield(select(i, ...)) or 0) + (select(i, ...))
  end
  return s
end
for _ = 1, 60 do
  local co = coroutine.wrap(yields)
  local v = co(1, 2, 3)
  while v ~= 6 + 6 do v = co(v) end
end
print((...), select("#", ...))
