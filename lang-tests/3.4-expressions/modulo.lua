-- Modulo takes the sign of the divisor (3.4.1).
-- expect: ok
--| 2	1	-1	-2
--| 1.5	0.5	-0.5	-1.5
--| 2.0	1.0	-1.0
--| 3.0	inf	-inf	-3.0
--| 0	-0.0	0.0	0	0	0.0
--| true	2.0	1	0	9223372036854775806
--| true	true
--| 3	1	-1	0.5	2.0
--| false	modulo.lua:22: attempt to perform 'n%0'
--| true
--| 2 -1  0 0  1 -2  2 -1  0 0  1 -2  2 -1  0 0  1 -2  
print(5 % 3, -5 % 3, 5 % -3, -5 % -3)
print(5.5 % 2, -5.5 % 2, 5.5 % -2, -5.5 % -2)
print(5 % 3.0, -5 % 3.0, 5 % -3.0)
print(3 % math.huge, -3 % math.huge, 3 % -math.huge, -3 % -math.huge)
print(0 % 5, -0.0 % 5, 0.0 % -5, 6 % 3, -6 % 3, 6.0 % -3)
print(1 % 0.1 < 0.1, 2^53 % 3, math.maxinteger % 2, math.mininteger % 2,
  math.mininteger % math.maxinteger)
print((5 % 0.0) ~= (5 % 0.0), (math.huge % 2) ~= (math.huge % 2))
local function mod(a, b) return a % b end
print(mod(7, 4), mod(-7, 4), mod(7, -4), mod(-7.5, 4), mod(1e20, 7))
print(pcall(mod, 1, 0))
print(mod(1, 0.0) ~= mod(1, 0.0))
for i = -4, 4 do io.write(i % 3, " ", i % -3, "  ") end
print()
