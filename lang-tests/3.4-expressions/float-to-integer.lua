-- Floats become integers only where the value is exact (3.4.3).
-- expect: ok
--| 3	-2	4611686018427387904	xxx	bc
--| AB	3	nil	nil
--| a	nil	c	y	a,b
--| false	bad argument #2 to 'string.rep' (number has no integer representation)
--| false	bad argument #1 to 'string.char' (number has no integer representation)
--| false	bad argument #2 to 'string.sub' (number has no integer representation)
--| false	bad argument #1 to 'select' (number has no integer representation)
--| true	true	false	bad argument #2 to 'string.rep' (number has no integer representation)
--| false	bad argument #2 to 'string.rep' (number expected, got string)
--| false	bad argument #2 to 'string.sub' (number has no integer representation)
--| false	bad argument #2 to 'string.sub' (number has no integer representation)
--| false	bad argument #1 to 'math.random' (number has no integer representation)

print(3.0 | 0, -2.0 | 0, 2^62 | 0, ("x"):rep(3.0), ("abc"):sub(2.0, 3.0))
print(string.char(65.0, 66), math.tointeger(3.0), math.tointeger(3.5), math.tointeger(2^63))
local t = { "a", "b", "c" }
print(t[1.0], t[2.5], t[3.0], select(2.0, "x", "y"), table.concat(t, ",", 1.0, 2.0))
print(pcall(string.rep, "x", 1.5))
print(pcall(string.char, 65.5))
print(pcall(string.sub, "abc", 1.1))
print(pcall(select, 1.5))
print(pcall(string.rep, "x", "2"), pcall(string.rep, "x", "2.0"), pcall(string.rep, "x", "2.5"))
print(pcall(string.rep, "x", "y"))
print(pcall(string.sub, "abc", 2^63))
print(pcall(string.sub, "abc", 0/0))
print(pcall(math.random, 1.5))
