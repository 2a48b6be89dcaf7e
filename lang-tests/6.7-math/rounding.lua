-- math.floor, ceil, fmod, modf, tointeger and type (6.7).
-- expect: ok
--| 3	-4	4	-3	5	5	3	1e+100	0
--| 4611686018427387904	true	integer	float	-9223372036854775808	inf	-inf
--| 1	-1	1	-1	1.5	-1.5	1.0	0
--| false	bad argument #2 to 'math.fmod' (zero)
--| true	3	0.7
--| -3	-0.7
--| 5	0.0
--| inf	0.0
--| -inf	0.0
--| 1e+20	0.0
--| 3	nil	8	nil	nil	9007199254740992	nil	0	3
--| integer	float	nil	nil	nil	false	bad argument #1 to 'math.type' (value expected)
--| false	bad argument #1 to 'math.floor' (number expected, got no value)
--| false	bad argument #1 to 'math.floor' (number expected, got string)
--| false	bad argument #1 to 'math.floor' (number expected, got table)
--| 3	3

print(math.floor(3.7), math.floor(-3.7), math.ceil(3.2), math.ceil(-3.2), math.floor(5),
  math.ceil(5), math.floor(3.0), math.floor(1e100), math.ceil(-0.5))
print(math.floor(2^62), math.floor(2^63) == 2^63, math.type(math.floor(2^53)),
  math.type(math.floor(2^70)), math.floor(-2^63), math.ceil(math.huge), math.floor(-math.huge))
print(math.fmod(7, 3), math.fmod(-7, 3), math.fmod(7, -3), math.fmod(-7, -3), math.fmod(7.5, 2),
  math.fmod(-7.5, 2), math.fmod(1, math.huge), math.fmod(math.mininteger, -1))
print(pcall(math.fmod, 1, 0)); print(math.fmod(1, 0.0) ~= math.fmod(1, 0.0), math.modf(3.7))
print(math.modf(-3.7)); print(math.modf(5)); print(math.modf(math.huge))
print(math.modf(-math.huge)); print(math.modf(1e20))
print(math.tointeger(3.0), math.tointeger(3.5), math.tointeger("8"), math.tointeger("x"),
  math.tointeger({}), math.tointeger(2^53), math.tointeger(math.huge), math.tointeger(-0.0),
  math.tointeger("3.0"))
print(math.type(1), math.type(1.0), math.type("1"), math.type(nil), math.type({}), pcall(math.type))
print(pcall(math.floor)); print(pcall(math.floor, "x")); print(pcall(math.floor, {}))
print(math.floor("3.7"), math.ceil("3"))
