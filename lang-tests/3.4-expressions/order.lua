-- Order comparisons of numbers and of strings (3.4.4).
-- expect: ok
--| true	true	true	true	true	true	false
--| true	false	true	true	false	true	true	true
--| false	false	false	false	false	true
--| true	false	true	true	false
--| true	true	false
--| true	true	true	true
--| true	false	true	true	false	true	true	true	true	true	false
--| true	false	true	true
--| true	true	true	true	false	true
--| branches
--| true	true	true

print(1 < 2, 1 < 1.5, 2 > 1.5, 1 <= 1.0, 1.0 >= 1, -1 < 0, 2 <= 1)
print("a" < "b", "a" < "B", "" < "a", "abc" < "abd", "abc" < "ab", "a" <= "a", "Z" < "a",
  "a\0b" < "a\0c")
local nan = 0/0
print(nan < 1, nan > 1, nan <= nan, nan >= nan, 1 < nan, not (nan < nan))
print(math.maxinteger < 2^63, math.maxinteger + 0.0 <= math.maxinteger, 2^63 > math.maxinteger,
  math.mininteger <= -2^63, math.mininteger < -2^63)
print((1 << 53) + 1 > 2^53, 2^53 < (1 << 53) + 1, (1 << 53) + 1 <= 2^53)
print(1 < math.huge, -math.huge < math.mininteger, math.huge > math.maxinteger,
  math.huge <= math.huge)
local i, f = 10, 10.5
print(i < 11, i < 10, i <= 10, i > 9.5, i >= 10.5, 11 > i, 10 >= i, f < 11, f > 10, 10 < f, 11 <= f)
print(i < f, f < i, i <= f, f >= i)
print(-5 < i, i < 200, i > -200, i < 100000, i > 1e10, i < 1e300)
if i < 20 then if not (i > 20) then print("branches") end end
print("10" < "9", "2" > "10", "é" > "z")
