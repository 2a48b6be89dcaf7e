-- A handler runs even after a stack overflow (2.3).
-- expect: ok
--| false	handled
--| false	true	true	true
-- skip(tier2-gc-stress): each growth collects, which stack-overflow-recursion.lua shows

local function recurse() return 1 + recurse() end
print(xpcall(recurse, function(m)
  return m:find("stack overflow", 1, true) ~= nil and "handled"
end))
local ok, trace = xpcall(recurse, debug.traceback)
print(ok, trace:find("stack overflow", 1, true) ~= nil, select(2, trace:gsub("\n", "")) < 40,
  trace:find("...\t(skipping ", 1, true) ~= nil)
