-- Comparisons associate to the left and give booleans (3.4.4, 3.4.8).
-- expect: ok
--| true	true	true	true
--| false	comparison-chains.lua:13: attempt to compare boolean with number
--| false	comparison-chains.lua:14: attempt to compare number with boolean
--| false	comparison-chains.lua:15: attempt to compare boolean with number
--| false	comparison-chains.lua:16: attempt to compare boolean with number
--| true	false	true	3
--| true	false	false	true
--| true	true	true

print(1 < 2 == true, 1 < 2 ~= false, 1 == 1 ~= false, 2 > 1 == (3 > 2))
print(pcall(function() return 1 < 2 < 3 end))
print(pcall(function() return 3 > 2 > 1 end))
print(pcall(function() return 1 <= 1 <= 1 end))
print(pcall(function() return not 1 < 2 end))
local a, b, c = 1, 2, 3
print(a < b and b < c, a < b and b > c, a > b or b < c, not (a > b) and c)
local function chain(x) return 0 < x and x < 10 and x ~= 5 end
print(chain(1), chain(5), chain(10), chain(9.5))
print(1 + 1 == 2 and 2 * 2 == 4, "a" .. "b" == "ab", 2 ^ 2 == 4 and -2 ^ 2 == -4)
