-- tonumber with a base (6.1).
-- expect: ok
--| 2	255	255	1295	511	10
--| -5	3	nil	1	nil	nil
--| nil	nil	nil	nil	481	nil
--| 9223372036854775807	-1	0
--| false	bad argument #2 to 'tonumber' (base out of range)
--| false	bad argument #2 to 'tonumber' (base out of range)
--| false	bad argument #1 to 'tonumber' (string expected, got number)
--| false	bad argument #2 to 'tonumber' (number expected, got string)
--| false	bad argument #1 to 'tonumber' (string expected, got table)
--| false	bad argument #2 to 'tonumber' (number has no integer representation)
--| 2	nil	nil	35

print(tonumber("10", 2), tonumber("ff", 16), tonumber("FF", 16), tonumber("zz", 36),
  tonumber("777", 8), tonumber("10", 10))
print(tonumber("-101", 2), tonumber("  11  ", 2), tonumber("- 1", 2), tonumber("+1", 2),
  tonumber("8", 8), tonumber("g", 16))
print(tonumber("", 10), tonumber(" ", 10), tonumber("1.5", 10), tonumber("1e1", 10),
  tonumber("1e1", 16), tonumber("0x10", 16))
print(tonumber("7fffffffffffffff", 16), tonumber("ffffffffffffffff", 16),
  tonumber("10000000000000000", 16))
print(pcall(tonumber, "10", 1))
print(pcall(tonumber, "10", 37))
print(pcall(tonumber, 10, 10))
print(pcall(tonumber, "10", "x"))
print(pcall(tonumber, {}, 10))
print(pcall(tonumber, "10", 2.5))
print(tonumber("10", 2.0), tonumber("1 1", 2), tonumber("1\0", 2), tonumber("Z", 36))
