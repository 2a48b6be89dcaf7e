-- The weakness of a table is what its metatable says at the collection (2.5.4).
-- expect: ok
--| table
--| nil
--| table
--| table

local mt = {}
local t = setmetatable({ {} }, mt)
collectgarbage()
print(type(t[1]))
mt.__mode = "v"
setmetatable(t, mt)
collectgarbage()
print(type(t[1]))
t[1] = {}
mt.__mode = nil
setmetatable(t, mt)
collectgarbage()
print(type(t[1]))
mt.__mode = 5
collectgarbage()
print(type(t[1]))
