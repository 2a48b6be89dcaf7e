-- The bitwise operators on 64-bit integers (3.4.2).
-- expect: ok
--| 48	255	240	-1	-6	5
--| 16	16	-9223372036854775808	0	0	1	0	9223372036854775807
--| 0	4	0	-9223372036854775808	0	0	0	0
--| 255	-1	0	-1
--| 1	7	9007199254740992	0	4	-4
--| 8	43981	43973	11259136	171	-43982
--| 205	205	43981	43981	43982	43982	703696	2748	256	4
--| 255	true
--| true	6442450944
--| 2	7	-7	12	3

print(0xF0 & 0x3C, 0xF0 | 0x0F, 0xFF ~ 0x0F, ~0, ~5, ~~5)
print(1 << 4, 256 >> 4, 1 << 63, 1 << 64, 1 << 65, -1 >> 63, -1 >> 64, -1 >> 1)
print(1 << -1, 2 >> -1, 1 << -63, 1 >> -63, 1 << -64, 1 << math.mininteger, 1 >> math.mininteger,
  1 << math.maxinteger)
print(-1 & 0xFF, -1 | 0, -1 ~ -1, math.mininteger | math.maxinteger)
print(3.0 & 1, 5.0 | 2, 2^53 | 0, -0.0 | 0, 1.0 << 2.0, ~3.0)
local a, b = 0xABCD, 8
print(a & b, a | b, a ~ b, a << b, a >> b, ~a)
print(a & 0xFF, 0xFF & a, a | 1, 1 | a, a ~ 3, 3 ~ a, a << 4, a >> 4, 1 << b, 1024 >> b)
print(0xFFFFFFFFFFFFFFFF & 0xFF, 0x7FFFFFFFFFFFFFFF + 1 == 1 << 63)
print((1 << 62) * 2 == 1 << 63, 1 << 31 | 1 << 32)
local x <const> = 6
print(x & 3, x | 1, ~x, x << 1, x >> 1)
