-- A store to a field that the table has.
local function write(o, v) o.x = v end
local o = { x = 1 }
for i = 1, 4 do write(o, i) end
