-- A closed upvalue lives as long as a closure that uses it (2.5).
-- expect: ok
--| true	true
--| nil	nil
--| true
--| nil

local weak = setmetatable({}, { __mode = "v" })
local function make()
  local shared = {}
  weak.shared = shared
  return function() return shared end, function() shared = nil end
end
local get, clear = make()
collectgarbage()
print(get() == weak.shared, weak.shared ~= nil)
clear()
collectgarbage()
print(weak.shared, get())
get, clear = make()
get = nil
collectgarbage()
print(weak.shared ~= nil)
clear = nil
collectgarbage()
print(weak.shared)
