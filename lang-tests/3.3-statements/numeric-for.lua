-- The numeric for with integers (3.3.5).
-- expect: ok
--| 1 2 3 |
--| |
--| 1 |
--| 3 2 1 |
--| 1 4 7 10 |
--| 10 6 2 |
--| 0 -5 |
--| -3 -1 1 3 |
--| 5 |
--| 1 |
--| 10:1 20:2 30:3 
--| 2	3	3	4
--| false	numeric-for.lua:30: 'for' step is zero
--| 1 2 3 2 3 3 
--| 1 2 3 100
--| 1i 2i 3i 4i 5i 6i 7i 8i 9i 10i 

local function run(a, b, c) for i = a, b, c or 1 do io.write(i, " ") end print("|") end
run(1, 3); run(3, 1); run(1, 1); run(3, 1, -1); run(1, 10, 3); run(10, 1, -4); run(0, -5, -5)
run(-3, 3, 2); run(5, 5, -1); run(1, 2, 5)
for i = 1, 3 do local j = i; i = i * 10; io.write(i, ":", j, " ") end
print()
for i = 1, 0 do print("never") end
for i = 3, 1 do print("never") end
local fs = {}
for i = 1, 3 do fs[i] = function() i = i + 1; return i end end
print(fs[1](), fs[1](), fs[2](), fs[3]())
print(pcall(function() for i = 1, 10, 0 do end end))
for i = 1, 3 do for i = i, 3 do io.write(i, " ") end end
print()
local limit = 3
for i = 1, limit do limit = 100; io.write(i, " ") end
print(limit)
for i = 1, 1e1 do io.write(i, math.type(i) == "integer" and "i " or "f ") end
print()
