-- Tail calls whose last argument is a call, in machine code: with one result, which is what it
-- mostly has, with none, and with several; of functions with fewer and more parameters, of native
-- functions and callable tables, with levels and errors as in the interpreter.
-- expect: ok
--| 4950	1	nil
--| 0	0	0
--| 3	7	14
--| 1	2	3	4	5
--| x	y
--| here	true
--| tail-calls-with-results.lua:39: late	21
local function values(n)
  if n == 0 then return end
  if n == 1 then return 1 end
  if n == 2 then return 7, 14 end
  return 1, 2, 3, 4, 5
end

local function two(a, b, c) return a, b, c end
local function all(...) return ... end
local function sum(n, total) if n == 0 then return total, 1 end return two(total + n, 1) end
local function count(...) return select("#", ...) end

local function fail(level)
  local function thrower(a, b) error(a, b) end
  return thrower("here", all(level))
end

local function to_two(n, k) return two(n, values(k)) end
local function to_all(k) return all(values(k)) end
local function to_count(n, k) return count(n, values(k)) end
local function to_native(k) return select(2, "w", all("x", "y")) end
local callable = setmetatable({}, {__call = function(_, a, b) return a, b end})
local function to_callable(k) return callable(k, values(1)) end

local function down(n, total) if n == 0 then return total end return down(n - 1, all(total + n)) end

local function late(n)
  local function step(k) if k > 20 then error("late") end return k + 1 end
  local function go(k) n = k return go(step(k)) end
  local ok, why = pcall(go, 0)
  return why, n
end

for i = 1, 300 do
  assert(down(50, 0) == 1275)
  local a, b, c = to_two(i, 1)
  assert(a == i and b == 1 and c == nil)
  assert(to_count(i, 1) == 2 and to_count(i, 0) == 1 and to_count(i, 3) == 6)
  assert(to_callable(i) == i and select("#", to_all(i % 4)) == ({[0] = 0, 1, 2, 5})[i % 4])
end
local a, b, c = sum(99, down(98, 0))
print(a, b, c)
print(to_two(0, 0), to_two(0, 3) - to_two(0, 2), select("#", to_all(0)))
print(to_two(3, 2))
print(to_all(3))
print(to_native(1))
local ok, why = pcall(fail, 2)
print(why, select("#", to_count(1, 1)) == 1)
print(late(0))
