-- An operator whose metamethod is a Lua function.
local meta = { __add = function(a, b) return a.n + b.n end }
local function add(a, b) return a + b end
local x = setmetatable({ n = 1 }, meta)
for i = 1, 4 do add(x, x) end
