-- tonumber without a base (6.1).
-- expect: ok
--| 10	10.0	16	10.0	12	5
--| 5	5.5	-7	7	-16	0.5	5.0	1.0
--| nil	nil	nil	nil	nil	nil	nil	nil
--| nil	nil	nil	nil	nil	nil	1.5	nil
--| 9223372036854775807	9.2233720368548e+18	-1	-9223372036854775808
--| nil	nil	nil	nil
--| false	bad argument #1 to 'tonumber' (value expected)
--| nil	1e+308	inf	-inf	1.1111111111111e+29
--| integer	float	float	7	7.0

print(tonumber("10"), tonumber("10.0"), tonumber("0x10"), tonumber("1e1"), tonumber("  12  "),
  tonumber("\n5\t"))
print(tonumber(5), tonumber(5.5), tonumber("-7"), tonumber("+7"), tonumber("-0x10"), tonumber(".5"),
  tonumber("5."), tonumber("0x.8p1"))
print(tonumber(""), tonumber(" "), tonumber("abc"), tonumber("1a"), tonumber("1 2"), tonumber("0x"),
  tonumber("1e"), tonumber("- 1"))
print(tonumber("inf"), tonumber("nan"), tonumber("0b1"), tonumber("1_0"), tonumber("1,5"),
  tonumber("--1"), tonumber("0x1.8"), tonumber("1e+"))
print(tonumber("9223372036854775807"), tonumber("9223372036854775808"),
  tonumber("0xffffffffffffffff"), tonumber("-9223372036854775808"))
print(tonumber(nil), tonumber({}), tonumber(true), tonumber(print))
print(pcall(tonumber))
print(tonumber("1\0"), tonumber("1e308"), tonumber("1e309"), tonumber("-1e309"),
  tonumber(("1"):rep(30)))
print(math.type(tonumber("3")), math.type(tonumber("3.0")), math.type(tonumber("3e0")),
  tonumber("007"), tonumber("0x7p0"))
