-- Comparisons with small, large and float constants, in both orders and as values.
-- expect: ok
--| true	true	false	false	false	true	false	false	true	true	false
--| false	true	false	true	true	false	false	true	false	true	true
--| false	false	true	true	false	true	true	true	false	false	false
--| false	true	false	true	true	false	false	true	false	true	true
--| false	false	true	true	false	true	true	true	false	false	false
--| true	true	false	false	false	true	false	false	true	true	false
--| false	true	true	true	false	false	true
--| true	true	false	false	true	false	true
--| true	true	false	true	false	false	true
--| true	true	false	false	true	true	true
--| true	true	false	false	true	true	true
--| true	false	true	true	false
--| false	true	true	false	false
--| true	false	true	true	false
--| false	false	true	false	true
--| true	false	false	false	false
--| false	true	true	false	false
--| false	true	false	false	true
--| false	true	false	false	false
--| false	comparison-with-constants.lua:37: attempt to compare string with number
--| false	comparison-with-constants.lua:37: attempt to compare number with table
local function check(x)
  return x < 5, x <= 5, x > 5, x >= 5, x == 5, x ~= 5, 5 < x, 5 <= x, 5 > x, 5 >= x, 5 == x
end
print(check(4)); print(check(5)); print(check(6)); print(check(5.0)); print(check(5.5))
print(check(-1e300))
local function large(x)
  return x < 1000000, x >= -1000000, x == 1000000, x > 127, x < 128, x <= -128, x >= -129
end
print(large(1000000)); print(large(127)); print(large(128)); print(large(-128)); print(large(-129))
local function float(x) return x < 2.5, x == 2.5, x >= 2.0, x == 2.0, x > 1e15 end
print(float(2)); print(float(2.5)); print(float(2.0)); print(float(1e16))
local function text(x) return x == "a", x ~= "a", x == nil, x == true, x == false end
print(text("a")); print(text(nil)); print(text(false)); print(text(1))
print(pcall(function(x) return x < 5 end, "4")); print(pcall(function(x) return 5 <= x end, {}))
