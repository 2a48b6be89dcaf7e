-- expect: ok
--| 931637
--| 3028840
--| false	loops-with-variable-steps.lua:10: 'for' step is zero
--| -26	4	-4611686018427387896
--| 0	19.0
--| 171
--| false	false	loops-with-variable-steps.lua:10: bad 'for' limit (number expected, got table)
-- Loops over integers whose step is a variable: positive, negative, zero, large and wrong ones.
local function f(a, b, c) local s = 0 for i = a, b, c do s = s + i end return s end
local r = 0
for i = 1, 500 do r = r + f(1, 100, i % 7 + 1) end
print(r)
for i = 1, 500 do r = r + f(100, 1, -(i % 7) - 1) + f(1, 100, i % 5 + 1) end
print(r)
print(pcall(f, 1, 10, 0))
print(f(math.maxinteger - 10, math.maxinteger, 3), f(1, 3.7, 2), f(1, math.huge, 1 << 60))
print(f(5, 1, 2), f(1, 10, 2.5))
local function g(n)
  local t, c = {}, 0
  for i = 2, n do t[i] = true end
  for i = 2, n do
    if t[i] then
      c = c + 1
      for j = i * i, n, i do t[j] = false end
    end
  end
  return c
end
for i = 1, 20 do r = g(1000 + i) end print(r)
print(pcall(f, 1, 10, "x"), pcall(f, 1, {}, 2))
