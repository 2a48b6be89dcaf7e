-- Decimal numerals: integers, floats, and integers that do not fit (3.1).
-- expect: ok
--| 3	345	0	7	9223372036854775807
--| 9.2233720368548e+18	-9.2233720368548e+18	1.844674407371e+19
--| 3.0	3.1416	3.1416	3.1416	340.0	5.0	0.5	0.0	1.0
--| 1e+308	inf	1e-308	4.9406564584125e-324	0.0
--| float	integer	float
--| 0.1	123456.789	1.2345678901235e+19	1e+15	1e+14	1.2345678901234e+14
--| 34	1.5	10
--| 1	1.0	1.0
--| n:1: malformed number near '3x'
--| n:1: malformed number near '3..4'
--| n:1: malformed number near '0xg'
--| n:1: malformed number near '1e'
--| n:1: malformed number near '1e+'
--| n:1: malformed number near '1.2.3'
--| n:1: malformed number near '0x'
--| n:1: malformed number near '08a'
--| n:1: malformed number near '1_'
--| n:1: malformed number near '3e5x'
--| n:1: malformed number near '12abc'

print(3, 345, 0, 007, 9223372036854775807)
print(9223372036854775808, -9223372036854775808, 18446744073709551615)
print(3.0, 3.1416, 314.16e-2, 0.31416E1, 34e1, 5., .5, 0.0, 1e0)
print(1e308, 1e309, 1e-308, 4.9e-324, 1e-400)
print(math.type(1e3), math.type(1000), math.type(100000000000000000000))
print(0.1, 123456.789, 12345678901234567890, 1e15, 1e14, 123456789012345.0)
print(3 .. 4, 1.5 .. "", 0xA .. "")
print(1//1, 1.//1, .5//.5)
for _, s in ipairs({ "3x", "3..4", "0xg", "1e", "1e+", "1.2.3", "0x", "08a", "1_000", "3e5x",
  "12abc" }) do
  print(select(2, load("return " .. s, "=n")))
end
