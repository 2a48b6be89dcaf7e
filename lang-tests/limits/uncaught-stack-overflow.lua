-- A long error message from an uncaught error is reported in full (2.3).
-- expect: error
--! stack overflow
-- skip(tier2-gc-stress): each growth collects, which stack-overflow-recursion.lua shows

local function recurse() return 1 + recurse() end
local ok, message = pcall(recurse)
error((message:match("stack overflow")), 0)
