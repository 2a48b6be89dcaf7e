-- Objects that a loop makes, replaces and drops, which tier 2 does not allocate there.
local V = {}
V.__index = V
local function new(x) return setmetatable({ x = x }, V) end
V.__add = function(a, b) return new(a.x + b.x) end
for i = 1, 20 do local _ = new(0.5) + new(i + 0.5) end
local function sum(n)
  local sum = new(0.5)
  for _ = 1, n do sum = sum + new(2.0) end
  return sum
end
for _ = 1, 20 do sum(2) end
