-- A finalizer runs once, unless the object is marked again (2.5.3).
-- expect: ok
--| 3
--| 1

local runs = 0
local mt
mt = { __gc = function(o)
  runs = runs + 1
  if runs < 3 then setmetatable(o, mt) end
end }
;(function() setmetatable({}, mt) end)()
for i = 1, 6 do collectgarbage() end
print(runs)
local once = 0
;(function() setmetatable({}, { __gc = function() once = once + 1 end }) end)()
for i = 1, 4 do collectgarbage() end
print(once)
