-- os.exit with close set runs finalizers and pending closes (6.9).
-- expect: ok
--| closed
--| finalized

keep = setmetatable({}, { __gc = function() print("finalized") end })
local x <close> = setmetatable({}, { __close = function() print("closed") end })
pcall(function() os.exit(0, true) end)
print("never")
