-- Frames of vararg functions that are called with fewer, as many and more arguments than they
-- have parameters.
-- expect: ok
--| 0 | 1 1 | 2 1 2
--| 3 1 2 3 | 4 1 2 3 4 | 5 1 2 3 4 5
--| 6 1 2 3 4 5 6 | 7 1 2 3 4 5 6 7 | 8 1 2 3 4 5 6 7 8
--| nil 0 | 1 0 | 1 1 2
--| 1 2 2 3 | 1 3 2 3 4 | 1 4 2 3 4 5
--| 1 5 2 3 4 5 6 | 1 6 2 3 4 5 6 7 | 1 7 2 3 4 5 6 7 8
--| nil nil 0 nil nil | 1 nil 0 nil nil | 1 2 0 nil nil
--| 1 2 1 3 3 | 1 2 2 3 4 | 1 2 3 3 5
--| 1 2 4 3 6 | 1 2 5 3 7 | 1 2 6 3 8
--| nil nil nil nil | nil nil nil 1 | nil nil 2 1
--| nil 3 2 1 | 4 3 2 1 | 4 3 2 1 5
--| 4 3 2 1 5 6 | 4 3 2 1 5 6 7 | 4 3 2 1 5 6 7 8
--| nil nil nil nil nil | nil nil nil nil 1 | nil nil nil 2 1
--| nil nil 3 2 1 | nil 4 3 2 1 | 5 4 3 2 1
--| 5 4 3 2 1 6 | 5 4 3 2 1 6 7 | 5 4 3 2 1 6 7 8
--| nil nil nil nil | nil 1 nil nil | nil 1 nil nil
--| nil 1 nil nil | nil 1 nil nil | nil 1 nil nil
--| 6 1 nil nil | 6 1 7 nil | 6 1 7 8
--| true 409 2 3 4 / true x y 400 2 3 4 / dead
--| 300
--| 3
--| 150001	150000
--| 150001	150000
--| 150001	150000
--| (vararg) t300 2 s300 t300

local unpack, select = table.unpack, select
-- functions that are not inlined, since they are called through a table
local F = {
  function(...) local n = select("#", ...) return n, ... end,
  function(a, ...) return a, select("#", ...), ... end,
  function(a, b, ...) local t = {...} return a, b, #t, t[1], t[#t] end,
  function(a, b, c, d, ...) return d, c, b, a, ... end,
  function(a, b, c, d, e, ...) return e, d, c, b, a, ... end,
  function(a, b, c, d, e, f, ...) local x, y = ... return f, a, x, y end,
}
local function show(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  return table.concat(t, " ", 1, t.n)
end
local sums = {}
for round = 1, 120 do
  for i = 1, #F do
    for n = 0, 8 do
      local args = {}
      for k = 1, n do args[k] = round % 3 * 10 + k end
      local s = show(F[i](unpack(args, 1, n)))
      if round == 120 then sums[#sums + 1] = s end
    end
  end
end
for i = 1, #sums, 3 do print(table.concat(sums, " | ", i, i + 2)) end

-- at the bottom of a stack, across yields, and with errors
local body = function(a, ...)
  local sum = a
  for i = 1, select("#", ...) do sum = sum + (select(i, ...)) end
  local x, y = coroutine.yield(sum, ...)
  return x, y, a, ...
end
local last
for i = 1, 400 do
  local co = coroutine.create(body)
  local first = show(coroutine.resume(co, i, 2, 3, "4"))
  last = first .. " / " .. show(coroutine.resume(co, "x", "y")) .. " / " .. coroutine.status(co)
end
print(last)
local failing = function(a, ...) if a == 0 then error({...}) end return ... end
local caught = 0
for i = 1, 400 do
  local ok, e = pcall(failing, i % 4, 1, 2, 3)
  if not ok then caught = caught + #e end
end
print(caught)

-- tail calls, recursion, and arguments that need a larger stack
local function count(n, ...)
  if n == 0 then return select("#", ...) end
  return count(n - 1, n, ...)
end
local function depth(n, ...)
  if n == 0 then return ... end
  local a, b = depth(n - 1, ...)
  return a, b, n
end
for i = 1, 300 do last = count(i % 20, i) + select("#", depth(i % 30, i, i)) end
print(last)
local big = {}
for i = 1, 150000 do big[i] = i end
for i = 1, 3 do print(select("#", F[1](unpack(big))), select(150001, F[2](unpack(big)))) end

-- extra arguments that are collectable, and the debug library
local holds = function(a, ...)
  collectgarbage("step")
  local name, v = debug.getlocal(1, -2)
  return name, v, #{...}, ...
end
for i = 1, 300 do last = show(holds({}, "s" .. i, "t" .. i)) end
print(last)
