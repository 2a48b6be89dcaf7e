-- math.random stays in its range, and a seed repeats its sequence (6.7).
-- expect: ok
--| true true true true 
--| true	6	float	integer	7	integer
--| integer	true	true
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| false	wrong number of arguments
--| false	bad argument #1 to 'math.random' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number expected, got string)
--| false	bad argument #1 to 'math.random' (interval is empty)
--| true	true	false	bad argument #1 to 'math.randomseed' (number expected, got string)

math.randomseed(42)
local a = { math.random(), math.random(10), math.random(-5, 5), math.random(0) }
math.randomseed(42)
local b = { math.random(), math.random(10), math.random(-5, 5), math.random(0) }
for i = 1, 4 do io.write(tostring(a[i] == b[i]), " ") end print()
local inside, kinds = true, {}
for i = 1, 200 do
  local f, n, r = math.random(), math.random(6), math.random(-3, 3)
  inside = inside and f >= 0 and f < 1 and n >= 1 and n <= 6 and r >= -3 and r <= 3
  kinds[n] = true
end
print(inside, #kinds, math.type(math.random()), math.type(math.random(5)), math.random(7, 7),
  math.type(math.random(0)))
print(math.type(math.random(math.mininteger, math.maxinteger)), math.random(math.maxinteger) > 0,
  math.random(3.0) <= 3)
print(pcall(math.random, 0, -1)); print(pcall(math.random, -1)); print(pcall(math.random, 1, 2, 3))
print(pcall(math.random, 1.5)); print(pcall(math.random, "x")); print(pcall(math.random, 2, 1))
math.randomseed(7, 9); local x = math.random(1000); math.randomseed(7, 9)
print(x == math.random(1000), pcall(math.randomseed, 5), pcall(math.randomseed, "x"))
