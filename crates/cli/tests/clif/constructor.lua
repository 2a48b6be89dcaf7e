-- A table whose fields are known where it is created.
local function constructor(x) return { x = x, y = 2 } end
for i = 1, 4 do constructor(i) end
