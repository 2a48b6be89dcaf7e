-- math.max, min, abs, sqrt, exp, log, ult and the trigonometric functions (6.7).
-- expect: ok
--| 2.5	3	-1	1	-5.5	1	1.0	inf
--| 5	5.5	0.0	-9223372036854775808	inf	4.0	1.4142135623731	1.0	2.718281828459
--| 0.0	3.0	2.0	true	-inf	2.0	0.5
--| 0.0	1.0	0.0	1.5707963267949	0.0	0.78539816339745	2.3561944901923	-2.3561944901923	3.1415926535898
--| 3.1415926535898	inf	-inf	9223372036854775807	-9223372036854775808	180.0	3.1415926535898
--| true	false	true	false	false
--| false	bad argument #1 to 'math.max' (value expected)
--| true	x
--| false	bad argument #1 to 'math.abs' (number expected, got no value)
--| false	bad argument #1 to 'math.sqrt' (number expected, got table)
--| false	bad argument #1 to 'math.ult' (number has no integer representation)
--| false	bad argument #2 to 'math.log' (number expected, got string)
--| false	bad argument #1 to 'math.sin' (number expected, got nil)
--| true

print(math.max(1, 2.5), math.max(3, 2), math.max(-1), math.min(1, 2.5), math.min(3, 2, -5.5),
  math.max(1, 1.0), math.max(1.0, 1), math.max(2, math.huge))
print(math.abs(-5), math.abs(5.5), math.abs(-0.0), math.abs(math.mininteger), math.abs(-math.huge),
  math.sqrt(16), math.sqrt(2), math.exp(0), math.exp(1))
print(math.log(1), math.log(8, 2), math.log(100, 10), math.log(27, 3) - 3 < 1e-12, math.log(0),
  math.log(math.exp(2)), math.log(2, 4))
print(math.sin(0), math.cos(0), math.tan(0), math.asin(1), math.acos(1), math.atan(1),
  math.atan(1, -1), math.atan(-1, -1), math.atan(0, -1))
print(math.pi, math.huge, -math.huge, math.maxinteger, math.mininteger, math.deg(math.pi),
  math.rad(180))
print(math.ult(1, 2), math.ult(-1, 1), math.ult(1, -1), math.ult(0, 0), math.ult(math.mininteger,
  math.maxinteger))
print(pcall(math.max)); print(pcall(math.min, "x")); print(pcall(math.abs))
print(pcall(math.sqrt, {})); print(pcall(math.ult, 1.5, 2)); print(pcall(math.log, 1, "x"))
print(pcall(math.sin, nil)); print(math.sqrt(-1) ~= math.sqrt(-1))
