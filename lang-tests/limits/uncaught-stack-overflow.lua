-- A long error message from an uncaught error is reported in full (2.3).
-- expect: error
--! stack overflow

local function recurse() return 1 + recurse() end
local ok, message = pcall(recurse)
error((message:match("stack overflow")), 0)
