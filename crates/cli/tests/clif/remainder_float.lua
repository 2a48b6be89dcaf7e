-- Remainders of small integral floats need no call, and those by powers of two no division.
local function float(x) return x % 10.0 + x % 4.0 end
for _ = 1, 30 do float(25.0) end
