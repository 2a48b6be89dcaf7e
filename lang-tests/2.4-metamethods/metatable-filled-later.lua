-- A metatable changed after setmetatable takes effect (2.4).
-- expect: ok
--| nil	false	metatable-filled-later.lua:17: attempt to perform arithmetic on a table value (upvalue 'o')
--| one
--| two
--| three
--| sum
--| false	metatable-filled-later.lua:17: attempt to perform arithmetic on a table value (upvalue 'o')
--| nil
--| own
--| own
--| unused

local mt = {}
local o = setmetatable({}, mt)
local function read() return o.field end
local function add() return o + 1 end
print(read(), pcall(add))
mt.__index = { field = "one" }
print(read())
mt.__index.field = "two"
print(read())
mt.__index = function() return "three" end
print(read())
mt.__add = function() return "sum" end
print(add())
mt.__add = nil
print(pcall(add))
mt.__index = nil
print(read())
o.field = "own"
print(read())
setmetatable(o, { __index = { field = "unused" } })
print(read())
o.field = nil
print(read())
