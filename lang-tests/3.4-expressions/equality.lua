-- == never converts, and compares numbers by value (3.4.4).
-- expect: ok
--| true	false	true	true	false	false
--| false	true	false	false	true
--| true	false	true	false	true
--| false	true	true
--| true	true	true	false
--| true	true	false	true	false	false	true	true	false
--| true	true	false	true
--| true	false	true	false	true	true
--| in a condition
--| true	true

print(1 == 1.0, "1" == 1, 0 == -0, 0.0 == -0.0, nil == false, "" == nil)
print(1 ~= 1.0, "1" ~= 1, nil ~= nil, "a" ~= "a", {} ~= {})
print(2^53 == 2^53 + 1, (1 << 53) + 1 == 2^53, (1 << 53) == 2^53, math.maxinteger == 2^63,
  math.maxinteger + 0.0 == 2^63)
local nan = 0/0
print(nan == nan, nan ~= nan, not (nan == nan))
print("abc" == "abc", "abc" == "ab" .. "c", ("x"):rep(100) == ("xx"):rep(50),
  ("x"):rep(100) == ("x"):rep(99))
local a, b = 1, "x"
print(a == 1, a == 1.0, a == "1", b == "x", b == 5, a == nil, b ~= nil, a ~= 2, a == true)
print(1 == 1 == true, (1 == 2) == false, not 1 == 2, not (1 == 2))
local t = {}
print(t == t, t == {}, print == print, print == pcall, nil == nil, true == true)
if a == 1 and b == "x" and not (a == 2) then print("in a condition") end
print(-1 == 0xFFFFFFFFFFFFFFFF, 1e308 * 10 == math.huge)
