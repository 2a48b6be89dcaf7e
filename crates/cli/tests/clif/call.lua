-- A call of a Lua function through its slot, and one of a native function.
local function inner(x) return x end
local function call(x) return inner(x), rawlen(x) end
for _ = 1, 4 do call("text") end
