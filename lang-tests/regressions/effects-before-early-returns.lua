-- expect: ok
--| 1046	2032
--| 4120
--| 1834815	121	30	15
--| 5678	3.5	55.0	0	false	effects-before-early-returns.lua:76: attempt to add a 'string' with a 'number'
--| false	false	false	effects-before-early-returns.lua:85: attempt to index a number value (local 't')
--| 5864
--| -21	117	3874
--| 3150	7
--| 7	15
--| 315	1	1
--| effects-before-early-returns.lua:134: attempt to perform arithmetic on a nil value
--| t
--| stack traceback:
--| 	effects-before-early-returns.lua:141: in upvalue 'show'
--| 	effects-before-early-returns.lua:142: in upvalue 'show'
--| 	effects-before-early-returns.lua:142: in upvalue 'show'
--| 	effects-before-early-returns.lua:142: in local 'show'
--| 	effects-before-early-returns.lua:146: in main chunk
--| zero23	true
-- Recursive functions that count or store something before the test that ends the recursion.
local calls = 0
local function count(n)
  calls = calls + 1
  if n == 0 then return 1 end
  return count(n - 1) + count(n - 1)
end
local sum = 0
for i = 1, 60 do sum = sum + count(i % 7) end
print(sum, calls)

-- the count is a field, and nothing is returned
local Walk = { count = 0, depth = 0 }
function Walk:down(n)
  self.count = self.count + 1
  if n ~= 0 then
    self:down(n - 1)
    for _ = 1, n do self:down(n - 1) end
  end
end
for _ = 1, 20 do Walk:down(4) end
print(Walk.count)

-- the early return has results and effects of its own
local trace, top = {}, 0
local function search(node, wanted)
  top = top + 1
  if not node then
    trace[top] = "nil"
    return nil, top
  end
  trace[top] = node.key
  if node.key == wanted then return node, top end
  local found, at = search(node.left, wanted)
  if found then return found, at end
  return search(node.right, wanted)
end
local function tree(low, high)
  if low > high then return nil end
  local middle = (low + high) // 2
  return { key = middle, left = tree(low, middle - 1), right = tree(middle + 1, high) }
end
local root, found = tree(1, 60), 0
for i = 0, 70 do
  top = 0
  local node, at = search(root, i)
  found = found + (node and node.key or 0) * 1000 + at
end
print(found, #trace, trace[1], trace[2])

-- other tests: of order, of two parameters, of truth, and those with the wrong kinds
local steps = 0
local function up(a, b)
  steps = steps + 1
  if a >= b then return a end
  return up(a + 1, b) + 0
end
local function least(n)
  steps = steps + 1
  if n < 2 then return n end
  return least(n - 1) + least(n - 2)
end
local function truth(t)
  steps = steps + 1
  if t then return truth(t.next) + 1 end
  return 0
end
for i = 1, 200 do up(i % 5, 7) least(i % 9) truth({ next = { next = { } } }) end
print(steps, up(0.5, 3.25), least(10.0), truth(false), pcall(up, "a", "b"))
print(pcall(up, 1, nil), pcall(least, {}), pcall(truth, 5))
print(steps)

-- a parameter that is assigned before the test, and a test of something else
local function assigned(n)
  n = n - 1
  calls = calls + 1
  if n < 1 then return n end
  return assigned(n) + assigned(n - 1)
end
local limit = 3
local function other(n)
  calls = calls + 1
  if limit > n then return n end
  limit = limit + 1
  local r = other(n - 1) + other(n - 2)
  limit = limit - 1
  return r
end
for i = 1, 100 do assigned(i % 8) other(i % 9) end
print(assigned(9), other(12), calls)

-- what comes first calls something after all
local log = {}
local watched = setmetatable({}, {
  __index = function(_, k) return 0 end,
  __newindex = function(_, k, v) log[#log + 1] = v end,
})
local holder = { hits = 0 }
local function hit(n)
  holder.hits = holder.hits + 1
  if n == 0 then return 0 end
  return hit(n - 1) + hit(n - 1) + 1
end
for _ = 1, 50 do hit(5) end
print(holder.hits, hit(3))
holder = watched
print(hit(3), #log)
for _ = 1, 20 do hit(3) end
print(#log, log[1], log[#log])

-- errors and tracebacks from inside
local function fail(n)
  calls = calls + 1
  if n == 0 then return nil + 1 end
  return fail(n - 1) + 1
end
for _ = 1, 100 do pcall(fail, 3) end
print(select(2, pcall(fail, 3)))
local function show(n)
  calls = calls + 1
  if n == 0 then return (debug.traceback("t", 1):gsub("%s+%[C%].*", "")) end
  local text = show(n - 1)
  return text
end
for _ = 1, 100 do show(3) end
print(show(3))

-- a debugger sets the parameter between the effect and the test
local function set(n)
  calls = calls + 1
  if n == 0 then return "zero" end
  return set(n - 1) .. n
end
for _ = 1, 100 do set(3) end
local lines = 0
debug.sethook(function()
  lines = lines + 1
  local name, n = debug.getlocal(2, 1)
  if name == "n" and n == 1 and lines % 2 == 0 then debug.setlocal(2, 1, 0) end
end, "l")
local text = set(3)
debug.sethook()
print(text, lines > 0)
