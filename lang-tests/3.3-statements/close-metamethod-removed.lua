-- A __close that vanished is an error when the variable is closed (3.3.8).
-- expect: ok
--| false	close-metamethod-removed.lua:12: attempt to call a nil value (metamethod 'close')
--| false	attempt to call a nil value
--| type	table
--| type	function

local mt = { __close = function() print("closed") end }
print(pcall(function()
  local x <close> = setmetatable({}, mt)
  setmetatable(x, {})
end))
print(pcall(function()
  local x <close> = setmetatable({}, mt)
  getmetatable(x).__close = nil
  error("body", 0)
end))
mt.__close = function(v) print("type", type(v)) end
do local x <close> = setmetatable({}, mt) end
debug.setmetatable(print, mt)
do local f <close> = print end
debug.setmetatable(print, nil)
