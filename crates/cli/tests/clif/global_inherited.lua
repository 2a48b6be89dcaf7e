-- A global that the environment of a sandbox inherits.
local inherited = load("local function inherited(x) return abs(x) end return inherited",
  "=sandbox", "t", setmetatable({}, { __index = { abs = math.abs } }))()
for i = 1, 20 do inherited(-i) end
