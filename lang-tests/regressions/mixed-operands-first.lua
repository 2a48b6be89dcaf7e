-- Operators that are hot with an integer and a float before they get two integers: the result is an
-- integer (3.4.1, 3.4.3).
-- expect: ok
--| 3	3.5	4	-1	6

local function add(a, b) return a + b end
local function sub(a, b) return a - b end
local function mul(a, b) return a * b end
for i = 1, 2 do
  for i = 1, 300000 do add(1, 2.5) sub(1, 0.5) mul(2, 0.5) end
end
print(add(1, 2), add(1.5, 2), add(2, 2), sub(1, 2), mul(2, 3))
