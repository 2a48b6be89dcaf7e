-- Variables of the main chunk are closed when it returns (3.3.8).
-- expect: ok
--| running
--| b closed	nil
--| main closed	nil

local a <close> = setmetatable({}, { __close = function(_, e) print("main closed", e) end })
local b <close> = setmetatable({}, { __close = function(_, e) print("b closed", e) end })
print("running")
return
