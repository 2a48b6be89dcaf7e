-- covers: a recursive function that returns early, all of whose results are arguments of another
-- call, and which ends with the call of a library function that is replaced later
-- expect: ok
--| 6
--| 16
--| 1
--| 5
--| 6
local total = 0
local function count(...) return select("#", ...) end
local function f(n)
  if n < 1 then return n end
  local c = count(f(n - 1))
  total = total + c
  return math.abs(n)
end
local function counted(n)
  total = 0
  f(n)
  return total
end
for round = 1, 300 do counted(6) end
print(counted(6))
local abs = math.abs
math.abs = function(x) return x, x, x end
print(counted(6))
math.abs = function(x) end
print(counted(6))
math.abs = function(x)
  if x % 2 == 0 then return x, x end
end
print(counted(5))
math.abs = abs
print(counted(6))
