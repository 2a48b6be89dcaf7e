-- expect: ok
--| 6765	6765.0	0.5
--| 55	177
--| 2584	177
--| attempt to compare string with number	1
--| 22.5
--| attempt to index a nil value (field 'x')	1
--| 1023
--| 897	1
--| 773	2
--| 1030	13 12 32 13 21 23 13
--| 1550	5	1556
--| true	false	false	true	one	false
--| 63	9
--| 14000	1000	1000
--| 769
--| 5000	true
--| 4
--| 1597	1596	-377	610
--| 9000	8640
--| 7	1	8646
--| 7	2	8652
--| 7	3	8658
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| false	attempt to perform arithmetic on a nil value (local 'c')
--| 2.5
-- Of functions that call themselves, code inlines the returns that come before anything else. What
-- decides about them is executed again when the function is called after all.
local function try(f, ...)
  local ok, message = pcall(f, ...)
  return ok, (message:gsub("^[^:]+:%d+: ", ""))
end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(20), fib(20.0), fib(0.5))

-- metamethods decide, and count how often
local compared = 0
local number = {}
number.__index = number
number.__lt = function(a, b)
  compared = compared + 1
  return (type(a) == "table" and a.n or a) < (type(b) == "table" and b.n or b)
end
number.__sub = function(a, b) return setmetatable({n = a.n - b}, number) end
number.__add = function(a, b)
  return (type(a) == "table" and a.n or a) + (type(b) == "table" and b.n or b)
end
print(fib(setmetatable({n = 10}, number)), compared)
print(fib(18), compared)

-- errors in what decides, and in what is returned
print(select(2, pcall(fib, "x")):gsub("^[^:]+:%d+: ", ""))
local function down(n, t) if n == 0 then return t.x.y end return down(n - 1, t) + 1 end
for _ = 1, 100 do down(20, {x = {y = 1}}) end
print(down(20, {x = {y = 2.5}}))
print(select(2, pcall(down, 20, {})):gsub("^[^:]+:%d+: ", ""))

-- fields decide; then tables get metatables and other shapes
local reads = 0
local function tree(d) if d == 0 then return {} end return {l = tree(d - 1), r = tree(d - 1)} end
local function count(t) if t.l == nil then return 1 end return 1 + count(t.l) + count(t.r) end
local t = tree(9)
for _ = 1, 20 do count(t) end
print(count(t))
t.l.l.r = setmetatable({}, {__index = function(_, k) reads = reads + 1 return nil end})
print(count(t), reads)
t.r.r.r = setmetatable({l = {}, r = {}, other = 1}, {__index = function() reads = -1 end})
print(count(t), reads)

-- no results, and effects after what decides
local moves = {}
local function hanoi(n, from, to, via)
  if n == 0 then return end
  hanoi(n - 1, from, via, to)
  moves[#moves + 1] = from * 10 + to
  hanoi(n - 1, via, to, from)
end
hanoi(10, 1, 3, 2)
hanoi(3, 1, 3, 2)
print(#moves, table.concat(moves, " ", #moves - 6))

-- effects before it: the function does not begin again
local entered = 0
local function noted(n) entered = entered + 1 if n < 1 then return 0 end return 1 + noted(n - 1) end
for _ = 1, 50 do noted(30) end
print(entered, noted(5), entered)

-- two functions that call each other, several tests, and results that differ in kind
local odd
local function even(n) if n == 0 then return true end return not odd(n - 1) == false end
function odd(n)
  if n == 0 then return false elseif n == 1 then return "one" end
  return even(n - 1)
end
for k = 1, 60 do even(k) end
print(even(10), odd(10), even(11), odd(11), odd(1), even(1))
local function ack(m, n)
  if m == 0 then return n + 1 elseif n == 0 then local r = ack(m - 1, 1) return r end
  local inner = ack(m, n - 1)
  local r = ack(m - 1, inner)
  return r
end
print(ack(2, 30), ack(2, 3.0))

-- the function is replaced while it runs
local f
local calls = 0
f = function(n)
  if n < 1 then return 0 end
  calls = calls + 1
  if calls == 1000 then f = function() return 1000 end end
  return f(n - 1) + f(n - 2)
end
print(f(16), calls, f(3))

-- coroutines, deep recursion, and tracebacks
local function walk(t, d)
  if not t.l then return d end
  coroutine.yield(d)
  local a = walk(t.l, d + 1)
  local b = walk(t.r, d + 1)
  return a + b
end
local sum, co = 0, coroutine.wrap(walk)
local plain = tree(6)
for k = 1, 70 do
  local v = co(plain, 1)
  sum = sum + v
  if k == 64 then break end
end
print(sum)
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
for _ = 1, 30 do deep(50) end
print(deep(5000), pcall(deep, 1 / 0) == false)
local function level(n)
  if n < 0 then return select(2, debug.traceback("t", 1):gsub("in upvalue 'level'", "")) end
  local r = level(n - 1)
  return r
end
for _ = 1, 50 do level(3) end
print(level(3))

-- what is not inlined follows the test, and the early return has an effect
local leaves, nodes = 0, 0
local function grow(n)
  if n > 0 then
    nodes = nodes + 1
    grow(n - 1)
    grow(n - 2)
  else
    leaves = leaves + 1
  end
end
grow(15)
local function drop(n)
  if n < 1 then
    leaves = leaves - 1
    return n
  end
  return drop(n - 1) + drop(n - 2)
end
print(leaves, nodes, drop(14), leaves)

-- tables of many shapes decide
local steps = 0
local function follow(t, k)
  if t.stop then return k end
  steps = steps + 1
  return 1 + follow(t.next, k)
end
local make = {
  function(n) return {stop = false, next = n} end,
  function(n) return {next = n, stop = false} end,
  function(n) return {a = 1, stop = false, next = n} end,
  function(n) return {b = 1, stop = false, next = n} end,
  function(n) return {c = 1, d = 2, stop = false, next = n} end,
  function(n) return {e = 1, next = n, stop = false} end,
}
local function chain(length, kinds)
  local c = {stop = true}
  for i = 1, length do c = make[i % kinds + 1](c) end
  return c
end
local total = 0
for kinds = 1, 6 do
  local c = chain(24, kinds)
  for _ = 1, 60 do total = total + follow(c, 1) end
end
print(total, steps)
local looked = 0
local strange = setmetatable({next = chain(5, 6)}, {__index = function() looked = looked + 1 end})
for _ = 1, 3 do print(follow(strange, 1), looked, steps) end

-- a call passes what the tests cannot compute with
local function climb(n, c)
  local z = c + 1
  if n < 3 then return z end
  local r = climb(n - 2)
  return r
end
for _ = 1, 6 do print(try(climb, 6, 1)) end
print(climb(2, 1.5))
