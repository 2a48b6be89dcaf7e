-- covers: recursive calls all of whose results are arguments of another call, by functions that
-- return early, when the functions are replaced, return more values, yield or fail
-- expect: ok
--| 25	25	5.0
--| 63	6
--| -144	-18.5
--| 1	2	2	1	3
--|
--|
--|
--| 8
--| 7	6	3	two
--| 450
--| 5
--| attempt to index a nil value (global 'limit')
--| attempt to sub a 'string' with a 'number'
local male
local function female(n)
  if n == 0 then return 1 end
  return n - male(female(n - 1))
end
function male(n)
  if n == 0 then return 0 end
  return n - female(male(n - 1))
end
for round = 1, 20 do female(20) male(20) end
print(female(40), male(40), female(7.0))

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end
for round = 1, 20 do ackermann(2, 3) end
print(ackermann(2, 30), ackermann(1.0, 4))

-- all results of the inner call go to a vararg function, and to the library
local function count(...) return select("#", ...), ... end
local function nested(n)
  if n <= 0 then return n end
  local c, v = count(nested(n - 1))
  return math.max(nested(n - 2)) + v * c
end
for round = 1, 40 do nested(9) end
print(nested(12), nested(5.5))

-- one result, several, or none
local function several(n)
  if n == 0 then return 1 end
  if n % 7 == 3 then return several(n - 1), n end
  return (count(several(n - 1)))
end
local function none(n)
  if n == 0 then return end
  print(none(n - 1))
end
for round = 1, 60 do several(12) end
print(several(10), several(11), count(several(3)))
none(3)

-- the function is replaced in the middle of the recursion
local depth, at = 0, nil
local function step(n)
  depth = depth + 1
  if n == 0 then return depth end
  if depth == at then
    male = function(k) return k, "two" end
  end
  return math.max(step(n - 1)) % 7
end
local function mixed(n)
  if n < 1 then return n end
  return n - male(mixed(n - 1))
end
for round = 1, 30 do mixed(12) end
print(mixed(12))
for round = 1, 20 do depth = 0 step(6) end
depth, at = 0, 5
step(6)
print(depth, mixed(12), male(3))

-- the inner call yields, or fails
local function yielding(n)
  if n == 0 then return 0 end
  return coroutine.yield(n) or math.min(yielding(n - 1)) + 1
end
local total = 0
for round = 1, 30 do
  for v in coroutine.wrap(function() return yielding(5) and nil end) do total = total + v end
end
print(total)
local function failing(n)
  if n == 0 then return limit.x end
  return math.abs(failing(n - 1))
end
limit = { x = 5 }
for round = 1, 50 do failing(4) end
print(failing(6))
limit = nil
print((select(2, pcall(failing, 6)):gsub("^.-:%d+: ", "")))
print((select(2, pcall(female, "x")):gsub("^.-:%d+: ", "")))
