-- A field that tables of one shape have themselves.
local function read(t) return t.x end
local t = { x = 1, y = 2 }
for _ = 1, 4 do read(t) end
