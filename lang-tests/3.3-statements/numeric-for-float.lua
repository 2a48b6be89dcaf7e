-- The numeric for with floats, and which of its values decide (3.3.5).
-- expect: ok
--| 1.0 2.0 3.0 |
--| 1 2 3 |
--| 1.0 1.5 2.0 2.5 3.0 |
--| 1 2 |
--| 3 2 |
--| 0.0 0.25 0.5 0.75 1.0 |
--| 1.5 2.5 3.5 |
--| 0.1 0.2 0.3 |
--| |
--| -1 -2 |
--| false	numeric-for-float.lua:29: 'for' step is zero
--| false	numeric-for-float.lua:30: 'for' step is zero
--| |
--| |
--| not a number |
--| |
--| 1 2 3 
--| -1 -2 -3 
--| -inf 
--| 3 |
--| 1 |
--| 9.007199254741e+15 9.007199254741e+15 9.007199254741e+15 |
local function run(a, b, c)
  for i = a, b, c do io.write(i == i and tostring(i) or "not a number", " ") end print("|") end
run(1.0, 3, 1); run(1, 3.5, 1); run(1, 3, 0.5); run(1, 2.9, 1); run(3, 1.5, -1)
run(0, 1, 0.25); run(1.5, 3.5, 1); run(0.1, 0.35, 0.1); run(1, 0.5, 1); run(-1, -2.5, -1)
print(pcall(function() for i = 1.0, 2, 0 do end end))
print(pcall(function() for i = 1, 2, 0.0 do end end))
run(1, -math.huge, 1); run(1, 0/0, 1); run(0/0, 1, 1.0); run(1.0, 2, 0/0)
for i = 1, math.huge do if i > 3 then break end io.write(i, " ") end
print()
for i = -1, -math.huge, -1 do if i < -3 then break end io.write(i, " ") end
print()
for i = math.huge, 1 do print("never") end
for i = -math.huge, 1 do io.write(tostring(i), " ") break end
print()
run(3, 2.99, -1); run(1, 1.0, 1); run(2^53, 2^53 + 4, 2)
