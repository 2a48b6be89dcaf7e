-- os.exit ends the program at once with success (6.9).
-- expect: ok
--| buffered output is written

keep = setmetatable({}, { __gc = function() print("not closed") end })
local x <close> = setmetatable({}, { __close = function() print("not closed either") end })
io.write("buffered output is written\n")
os.exit(true)
