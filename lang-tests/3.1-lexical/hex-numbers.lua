-- Hexadecimal numerals wrap as integers and may be floats (3.1).
-- expect: ok
--| 255	10	12499674	4294967295	9223372036854775807
--| -1	-9223372036854775808	-1	2541551405711093505
--| 0.1171875	162.1875	3.1415926535898	0.5	8.0	16.0	0.25
--| 8.9884656743116e+307	inf	4.9406564584125e-324	0.0
--| integer	float	float
--| 10.5	28.0	15
--| n:1: malformed number near '0x1p'
--| n:1: malformed number near '0x1pz'
--| n:1: malformed number near '0x.'
--| n:1: malformed number near '0x1.2.3'
--| n:1: malformed number near '0xp1'
--| n:1: malformed number near '0x5g'

print(0xff, 0XA, 0xBEBADA, 0xffffffff, 0x7fffffffffffffff)
print(0xffffffffffffffff, 0x8000000000000000, 0x1ffffffffffffffff, 0x123456789abcdef01)
print(0x0.1E, 0xA23p-4, 0X1.921FB54442D18P+1, 0x.8, 0x8., 0x1p4, 0x1P-2)
print(0x1p1023, 0x1p1024, 0x1p-1074, 0x1p-1080)
print(math.type(0x10), math.type(0x10p0), math.type(0x1.0))
print(0x1p-1 + 0xa, 0xep1, 0xe+1)
for _, s in ipairs({ "0x1p", "0x1pz", "0x.", "0x1.2.3", "0xp1", "0x5g" }) do
  print(select(2, load("return " .. s, "=n")))
end
