-- string.format with integer conversions (6.4).
-- expect: ok
--| 42 -42	   42|42   |00042|+42| 42	005|     005	10	3
--| ff FF 0xff 10 010	ffffffffffffffff	        ff|FF        |00000000ff
--| 9223372036854775807 -9223372036854775808	Hi!	    A|B    |	1		   +3| 3   |
--| false	bad argument #2 to 'string.format' (number has no integer representation)
--| false	bad argument #2 to 'string.format' (number expected, got string)
--| false	bad argument #2 to 'string.format' (number has no integer representation)
--| false	bad argument #2 to 'string.format' (number has no integer representation)
--| false	bad argument #2 to 'string.format' (no value)
--| false	bad argument #2 to 'string.format' (number expected, got table)
--| false	bad argument #2 to 'string.format' (number expected, got string)
--| false	bad argument #2 to 'string.format' (number has no integer representation)
--| true	1
--| false	invalid conversion specification: '%#d'
--| false	invalid conversion specification: '%0c'
--| false	invalid conversion specification: '%123d'
--| false	invalid conversion specification: '%.123d'
--| true	1

local f = string.format
print(f("%d %i", 42, -42), f("%5d|%-5d|%05d|%+d|% d", 42, 42, 42, 42, 42), f("%.3d|%8.3d", 5, 5),
  f("%d", "10"), f("%d", 3.0))
print(f("%x %X %#x %o %#o", 255, 255, 255, 8, 8), f("%x", -1), f("%10x|%-10X|%010x", 255, 255, 255))
print(f("%d %d", math.maxinteger, math.mininteger), f("%c%c%c", 72, 105, 33),
  f("%5c|%-5c|", 65, 66), #f("%c", 0), f("%.0d", 0), f("%+5d|%- 5d|", 3, 3))
print(pcall(f, "%d", 1.5)); print(pcall(f, "%d", "x")); print(pcall(f, "%d", "1.5"))
print(pcall(f, "%x", -1.5)); print(pcall(f, "%d")); print(pcall(f, "%d", {}))
print(pcall(f, "%c", "x")); print(pcall(f, "%d", 2^63))
print(pcall(f, "%u", 1)); print(pcall(f, "%#d", 1)); print(pcall(f, "%0c", 1))
print(pcall(f, "%123d", 1)); print(pcall(f, "%.123d", 1)); print(pcall(f, "%--d", 1))
