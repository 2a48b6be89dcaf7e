-- An object is marked for finalization only if __gc is present when the metatable is set (2.5.3).
-- expect: ok
--| early
--| replaced
--| 2

local log = {}
local late, early = {}, { __gc = function() log[#log + 1] = "early" end }
local function fill()
  local a, b = setmetatable({}, late), setmetatable({}, early)
  late.__gc = function() log[#log + 1] = "late" end
  return a, b
end
fill()
collectgarbage()
print(table.concat(log, " "))
-- The field may be any value at marking and be replaced afterwards.
local mt = { __gc = true }
local function replace()
  local o = setmetatable({}, mt)
  mt.__gc = function() log[#log + 1] = "replaced" end
  return o ~= nil
end
replace()
collectgarbage()
print(log[#log])
mt.__gc = true
;(function() setmetatable({}, mt) end)()
collectgarbage()
print(#log)
