-- __metatable hides and protects a metatable (2.4, 6.1).
-- expect: ok
--| locked
--| false	cannot change a protected metatable
--| false	cannot change a protected metatable
--| false	false	cannot change a protected metatable
--| true
--| true	nil	nil
--| false	bad argument #1 to 'setmetatable' (table expected, got number)
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got no value)
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got number)
--| false	bad argument #1 to 'getmetatable' (value expected)
--| nil

local o = setmetatable({}, { __metatable = "locked" })
print(getmetatable(o))
print(pcall(setmetatable, o, {}))
print(pcall(setmetatable, o, nil))
local f = setmetatable({}, { __metatable = false })
print(getmetatable(f), pcall(setmetatable, f, {}))
local mt = {}
print(getmetatable(setmetatable({}, mt)) == mt)
print(getmetatable("").__index == string, getmetatable(1), getmetatable(print))
print(pcall(setmetatable, 1, {}))
print(pcall(setmetatable, {}))
print(pcall(setmetatable, {}, 1))
print(pcall(getmetatable))
print(getmetatable(setmetatable(setmetatable({}, mt), nil)))
