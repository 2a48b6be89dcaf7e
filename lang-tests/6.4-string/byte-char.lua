-- string.byte and string.char (6.4).
-- expect: ok
--| 65	66	67	65	66	67
--|
--|
--|
--|
--| 65	65	66	67
--| 0	255	128
--| 	Hi	2	zA
--| 255	abc
--| false	bad argument #1 to 'string.char' (value out of range)
--| false	bad argument #1 to 'string.char' (value out of range)
--| false	bad argument #1 to 'string.char' (number expected, got string)
--| false	bad argument #2 to 'string.char' (number has no integer representation)
--| false	bad argument #1 to 'string.byte' (string expected, got no value)
--| false	bad argument #2 to 'string.byte' (number expected, got string)

print(("A"):byte(), ("ABC"):byte(2), ("ABC"):byte(-1), ("ABC"):byte(1, 3))
print(("ABC"):byte(2, 1)); print(("ABC"):byte(10)); print((""):byte()); print(("ABC"):byte(0))
print(("ABC"):byte(-10, 10), ("ABC"):byte(math.mininteger, math.maxinteger))
print(("\0\255\128"):byte(1, -1))
print(string.char(), string.char(72, 105), #string.char(0, 0), string.char(0x7A, 65.0))
print(string.char(255):byte(), string.char(("abc"):byte(1, -1)))
print(pcall(string.char, 256)); print(pcall(string.char, -1)); print(pcall(string.char, "x"))
print(pcall(string.char, 65, 1.5))
print(pcall(string.byte)); print(pcall(string.byte, "x", "y"))
