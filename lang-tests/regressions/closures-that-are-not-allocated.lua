-- expect: ok
--| 210	3.5	7	0
--| 215	210.5	true
--| 4101950
--| 17000
--| 1840
--| 40
--| 675
--| 21312	19424
--| 55
--| false	attempt to index a number value (local 'x') 129 0 127 C main x s
--| 48.5
--| 1210	1210	1211	1212
--| 2890
--| 209790
--| 1	3	6	6
--| 13	-1	-1	2
--| 17680	2	1001
--| 447
--| 210000
--| 420000
--| 630000
--| 4003501
-- Closures that only inlined code uses: their variables are registers of the function that makes
-- them, and the closures exist only where frames are left.
local function each(t, f) for i = 1, #t do f(t[i], i) end end
local function any(t, f)
  for i = 1, #t do
    if f(t[i]) then return true end
  end
  return false
end
local function fold(t, acc, f)
  for i = 1, #t do acc = f(acc, t[i]) end
  return acc
end
local function hot(f, ...)
  local r
  for _ = 1, 300 do r = f(...) end
  return r
end
local first = debug.getinfo(each).linedefined
local numbers = {}
for i = 1, 20 do numbers[i] = i end

-- variables of the function, parameters, several closures that share one
local function sum(t)
  local s = 0
  each(t, function(x) s = s + x end)
  return s
end
print(hot(sum, numbers), sum({ 1, 2.5 }), sum({ "3", 4 }), sum({}))
local function onto(t, a)
  each(t, function(x) a = a + x end)
  return a
end
print(hot(onto, numbers, 5), onto(numbers, 0.5), pcall(onto, numbers, nil) == false)
local function shared(t)
  local n, m = 0, 0
  local function add(x) n = n + x end
  local function get() return n end
  each(t, function(x)
    add(x)
    m = m + get()
  end)
  n = n * 2
  each(t, function(x) if x % 2 == 0 then n = n - 1 end end)
  return n * 10000 + m + get()
end
print(hot(shared, numbers))

-- closures of each iteration have variables of their own
local function fresh(t)
  local total = 0
  for i = 1, 4 do
    local here, step = i, 0
    each(t, function(x) here = here + x; step = step + 1 end)
    total = total + here * step
  end
  return total
end
print(hot(fresh, numbers))

-- a closure that is used after its variable was closed
local function closed(t)
  local f
  do
    local x = 10
    f = function(y) x = x + y; return x end
  end
  local z = 5
  local s = 0
  for i = 1, #t do s = s + f(t[i]) + z end
  return s
end
print(hot(closed, numbers))

-- the same, after another variable in the same register was closed
local kept_first
local function closed_twice(n)
  local f
  do
    local x = 1
    kept_first = function() return x end
  end
  do
    local y = 10
    f = function(a) y = y + a; return y end
  end
  local z = 5
  local s = f(n) + z
  return s + f(n) + z + kept_first()
end
print(hot(closed_twice, 3))

-- registers that are variables of closures in one block and something else in another
local function reused(t, k)
  local out = 0
  do
    local a, b = 1, 2
    each(t, function(x) a = a + x * b end)
    out = out + a
  end
  do
    local a, b = k or 3, tostring(k)
    out = out + a + #b
  end
  for i = 1, 3 do
    local a <const>, b = i * 2, i
    each(t, function(x) b = b + a end)
    out = out + b
  end
  return out
end
print(hot(reused, numbers, 7))

-- an operand of a store, and open results, in a register that is a variable elsewhere
Total = 1
local function stores(t, k)
  local b = -3
  Total = (Total + b) % 10007
  do
    local u = k % 10
    each(t, function(x) u = u + x; if u % 3 ~= 1 then b = u end end)
    Total = Total + u
  end
  local c = select(2, pcall(function(x) if x > 3 then error(7) end return x, x end, k))
  return b * 100 + Total % 50 + c
end
print(hot(stores, numbers, 3), hot(stores, numbers, 4))

-- errors and tracebacks in the middle
local function inner(t)
  local s = 0
  each(t, function(x) s = s + x.v end)
  return s
end
local objects = {}
for i = 1, 10 do objects[i] = { v = i } end
print(hot(inner, objects))
objects[7] = 3
local ok, message = xpcall(inner, function(m)
  local names = {}
  for level = 2, 6 do
    local info = debug.getinfo(level, "nSl")
    if not info then break end
    names[#names + 1] = info.what == "Lua" and info.linedefined - first or info.what
  end
  local name, value = debug.getlocal(2, 1)
  local s = debug.getupvalue(debug.getinfo(2, "f").func, 1)
  return m:gsub("^.-:%d+: ", "") .. " " .. table.concat(names, " ") .. " " .. name .. " " .. s
end, objects)
print(ok, message)
objects[7] = { v = 0.5 }
print(inner(objects))

-- what an exit makes of them: other code may keep the closure, and it shares the variable
local kept
local function keeps(t, when)
  local s = 0
  local function f(x) s = s + x; return s end
  for i = 1, #t do
    if i == when then kept = f end
    f(t[i])
  end
  s = s + 1000
  return s
end
print(hot(keeps, numbers, 0), keeps(numbers, 5), kept(1), kept(1))

-- collections while only the frame knows them, and tables that their variables hold
local function tables(t)
  local list, count = nil, 0
  each(t, function(x)
    list = { next = list, x = x, y = { x } }
    count = count + #list.y
  end)
  local s = 0
  while list do
    s = s + list.x * list.y[1]
    list = list.next
  end
  return s + count
end
hot(tables, numbers)
collectgarbage()
print(tables(numbers))
local function points(t)
  local p = { x = 0, y = 0 }
  each(t, function(x) p = { x = p.x + x, y = p.y - x } end)
  return p.x * 1000 + p.y
end
print(hot(points, numbers))

-- yields, in closures that have been inlined before
local function steps(t, f)
  local n = 0
  each(t, function(x) n = n + x; if f then f(n) end end)
  return n
end
hot(steps, numbers)
local co = coroutine.wrap(function() return steps({ 1, 2, 3 }, coroutine.yield) end)
print(co(), co(), co(), co())

-- early ends, results, varargs, globals and upvalues of upvalues
local function find(t, wanted)
  local at = 0
  local found = any(t, function(x) at = at + 1; return x == wanted end)
  return found and at or -1
end
print(hot(find, numbers, 13), find(numbers, 99), find({}, 1), find({ "a", 1.0 }, 1))
local factor = 2
Global = 1
local function outer(t)
  return fold(t, 0, function(acc, x)
    Global = Global % 1000 + x
    factor = 3 - factor
    return acc + x * factor + Global
  end)
end
print(hot(outer, numbers), factor, Global)
local function depth(t)
  local s = 0
  each(t, function(x)
    local n = 0
    each(t, function(y) n = n + y; s = s + 1 end)
    s = s + n % x
  end)
  return s
end
print(hot(depth, numbers))

-- a loop of the main function, where closures may have been made before
local s = 0
local before = function() return s end
for i = 1, 3000 do
  each(numbers, function(x) s = s + x end)
  if i % 1000 == 0 then print(before()) end
end
local variable = 0
for i = 1, 2000 do
  local f = function(x) variable = variable + x + i end
  f(i)
  if i == 1500 then before = f end
end
before(1)
print(variable)
