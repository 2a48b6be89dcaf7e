-- A tail call of a Lua function.
local function same(x) return x end
local function pass(f, x) return f(x) end
for i = 1, 4 do pass(same, i) end
