-- Finalizers also run when the program ends with an error (2.5.3).
-- expect: error
--! stopped
--| finalized

keep = setmetatable({}, { __gc = function() print("finalized") end })
error("stopped", 0)
