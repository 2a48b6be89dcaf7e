-- Division of integers that rounds down, and its remainder.
local function floor(a, b) return a // b + a % b end
for i = 1, 4 do floor(i, 2) end
