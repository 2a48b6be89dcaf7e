-- A stack overflow closes the pending variables on its way out (3.3.8).
-- expect: ok
--| false	true	10
-- skip(tier2-gc-stress): each growth collects, which stack-overflow-recursion.lua shows

local closed = 0
local mt = { __close = function(_, e) closed = closed + 1 end }
local function recurse(n)
  local c <close> = n <= 10 and setmetatable({}, mt) or nil
  return 1 + recurse(n + 1)
end
local ok, message = pcall(recurse, 1)
print(ok, message:find("stack overflow", 1, true) ~= nil, closed)
