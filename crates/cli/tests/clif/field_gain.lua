-- A store that gives a table a field.
local function gain(o, v) o.y = v end
for i = 1, 4 do gain({ x = 1 }, i) end
