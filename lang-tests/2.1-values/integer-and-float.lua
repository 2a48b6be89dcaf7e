-- Integers and floats are two representations of one type (2.1).
-- expect: ok
--| 1	1.0	-0.0	0.0	100	100.0	1e+15	1e+16	9.007199254741e+15	9.2233720368548e+18
--| true	integer	float	nil
--| 3	3	3	3.0	3.5	3.0
--| 9223372036854775807	-9223372036854775808
--| true	true
--| -2	-9223372036854775808	-9223372036854775808
--| 9.2233720368548e+18	true
--| 0.3	0.33333333333333	100000000000000	1e+100	-1e-100
--| inf	-inf	true	123456789012345678
--| 3.1415926535898	inf	inf	-inf
--| 2147483648.0	0.5	10

print(1, 1.0, -0.0, 0.0, 100, 1e2, 1e15, 1e16, 2^53, 2^63)
print(1 == 1.0, math.type(1), math.type(1.0), math.type("1"))
print(3 | 0, 3.0 | 0, 7 // 2, 7.0 // 2, 7 / 2, 6 / 2)
print(math.maxinteger, math.mininteger)
print(math.maxinteger + 1 == math.mininteger, math.mininteger - 1 == math.maxinteger)
print(math.maxinteger * 2, math.mininteger * -1, -math.mininteger)
print(math.maxinteger + 1.0, math.maxinteger + 0.0 == 2^63)
print(0.1 + 0.2, 1/3, 100000000000000, 1e100, -1e-100)
print(1/0, -1/0, 0/0 ~= 0/0, 123456789012345678)
print(3.14159265358979, 1e300 * 1e10, 5 // 0.0, -5 // 0.0)
print(2^31, 2^-1, 10 // 3 * 3 + 10 % 3)
