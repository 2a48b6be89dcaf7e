-- A numeric for does not wrap around (3.3.5).
-- expect: ok
--| 9223372036854775805 9223372036854775806 9223372036854775807 |	3
--| 9223372036854775804 9223372036854775806 |	2
--| -9223372036854775806 -9223372036854775807 -9223372036854775808 |	3
--| 9223372036854775807 |	1
--| -9223372036854775808 -1 9223372036854775806 |	3
--| 9223372036854775807 -1 |	2
--| -9223372036854775808 -9223372036854775807 |	2
--| 1 4611686018427387904 9223372036854775807 |	3
--| -1 -4611686018427387905 |	2
--| 9223372036854775806 9223372036854775807 |	2
--| -9223372036854775807 -9223372036854775808 |	2
--| |	0
--| 0 9223372036854775807 |	2
--| |	0

local function run(a, b, c)
  local n = 0; for i = a, b, c do n = n + 1; io.write(i, " ") if n > 5 then break end end
  print("|", n)
end
run(math.maxinteger - 2, math.maxinteger, 1)
run(math.maxinteger - 3, math.maxinteger, 2)
run(math.mininteger + 2, math.mininteger, -1)
run(math.maxinteger, math.maxinteger, math.maxinteger)
run(math.mininteger, math.maxinteger, math.maxinteger)
run(math.maxinteger, math.mininteger, math.mininteger)
run(math.mininteger, math.mininteger + 1, 1)
run(1, math.huge, math.maxinteger // 2)
run(-1, -math.huge, math.mininteger // 2)
run(math.maxinteger - 1, 1e300, 1)
run(math.mininteger + 1, -1e300, -1)
run(1, math.mininteger, 1)
run(0, 2^63, math.maxinteger)
run(math.maxinteger, 2^53, 1)
