-- Precedence and associativity of the operators (3.4.8).
-- expect: ok
--| 14	20	10	3	9	512.0	-4.0	4.0
--| true	true	true	1	1	true
--| 123	true	2	620
--| 8	5	3	3	1	1
--| true	true	true	true	false
--| 6	6	2.0	2	-4	-3	2	-3
--| 15	-1	2	32	32	8
--| 0.5	0.5	-0.25	4.0	false
--| false	power:1: attempt to pow a 'string' with a 'number'
--| true	true	true	true
--| 14	20	512.0	-4.0	234	-5	19	1
--| true	false	true	1	-5	8
print(2 + 3 * 4, (2 + 3) * 4, 2 * 3 + 4, 10 - 4 - 3, 10 - (4 - 3), 2 ^ 3 ^ 2, -2 ^ 2, (-2) ^ 2)
print(not nil == true, not (nil == true), #"abc" == 3, -"2" + 3, - -1, not not true)
print(1 .. 2 .. 3, "a" .. "b" == "ab", 1 + 1 .. "", 2 * 3 .. 4 * 5)
print(1 << 2 + 1, (1 << 2) + 1, 1 | 2 & 3, (1 | 2) & 3, 1 | 2 ~ 3, 5 & 3 == 1 and 1 or 0)
print(1 + 2 < 4, 1 < 2 and 2 < 3, 1 == 1 or error(), false and false or true,
  (false and (false or true)))
print(7 // 2 * 2, 7 % 4 * 2, 8 / 2 / 2, 2 * 3 % 4, -7 // 2, -(7 // 2), -3 % 5, -(3 % 5))
print(~0 & 0xF, ~(0 & 0xF), 3 ~ 5 & 1, 1 << 2 << 3, 256 >> 2 >> 1, 1 + 1 << 1 + 1)
print(2 ^ -1, 2 ^ - 1 ^ 2, -2 ^ -2, (#"xx") ^ 2, not 1 == 2)
print(pcall(load("return #'xx' ^ 2", "=power")))
print("x" .. 1 + 2 == "x3", 1 .. 2 == "12", 3 < 4 == true, "a" < "b" == true)
local a, b, c = 2, 3, 4
print(a + b * c, (a + b) * c, a ^ b ^ a, -a ^ a, a .. b .. c, a - b - c, a << b | c & a ~ b,
  a * b // c % a)
print(a < b and b < c or a == c, not a == b, not (a == b), -a + b, - (a + b), #"ab" * c)
