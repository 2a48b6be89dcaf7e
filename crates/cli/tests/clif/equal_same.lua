-- Equality of values of any kind.
local function same(a, b) return a == b end
for i = 1, 4 do same(i, "x") end
