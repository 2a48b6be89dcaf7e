-- Floor division rounds toward minus infinity (3.4.1).
-- expect: ok
--| 7	2	3	1	true	3.0	1.0
--| -7	2	-4	1	true	-4.0	1.0
--| 7	-2	-4	-1	true	-4.0	-1.0
--| -7	-2	3	-1	true	3.0	-1.0
--| 6	3	2	0	true	2.0	0.0
--| -6	3	-2	0	true	-2.0	-0.0
--| 1	5	0	1	true	0.0	1.0
--| -1	5	-1	4	true	-1.0	4.0
--| 0	-3	0	0	true	-0.0	0.0
--| false	integer-division.lua:25: attempt to divide by zero
--| false	integer-division.lua:26: attempt to perform 'n%0'
--| false	integer-division.lua:27: attempt to divide by zero
--| false	integer-division.lua:28: attempt to perform 'n%0'
--| inf	-inf	inf	true
--| -9223372036854775808	0	-9223372036854775808	-9223372036854775807
--| 2.0	-3.0	-3.0	16.0	inf
--| 0.0	-0.0	-0.0
for _, p in ipairs({ { 7, 2 }, { -7, 2 }, { 7, -2 }, { -7, -2 }, { 6, 3 }, { -6, 3 }, { 1, 5 },
  { -1, 5 }, { 0, -3 } }) do
  local a, b = p[1], p[2]
  print(a, b, a // b, a % b, (a // b) * b + a % b == a, a / 1 // b, (a + 0.0) % b)
end
print(pcall(function() return 1 // 0 end))
print(pcall(function() return 1 % 0 end))
print(pcall(function() local z = 0; return math.mininteger // z end))
print(pcall(function() local z = 0; return 5 % z end))
print(1 // 0.0, -1 // 0.0, 1.0 // 0, (0 // 0.0) ~= (0 // 0.0))
print(math.mininteger // -1, math.mininteger % -1, math.mininteger // 1, math.maxinteger // -1)
print(5.5 // 2, -5.5 // 2, 5.5 // -2, 5 // 0.3, 1e308 // 1e-308)
print(3 // math.huge, -3 // math.huge, 3 // -math.huge)
