-- getmetatable and setmetatable (6.1).
-- expect: ok
--| true	true	true	nil
--| true	nil	nil	nil
--| protected	false	cannot change a protected metatable
--| false	cannot change a protected metatable
--| false	false	cannot change a protected metatable
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got no value)
--| false	bad argument #1 to 'setmetatable' (table expected, got number)
--| false	bad argument #2 to 'setmetatable' (nil or table expected, got number)
--| false	bad argument #1 to 'getmetatable' (value expected)
--| table	true
--| FILE*	nil

local t, meta = {}, {}
print(setmetatable(t, meta) == t, getmetatable(t) == meta, setmetatable(t, nil) == t,
  getmetatable(t))
print(getmetatable("").__index == string, getmetatable(1), getmetatable(nil), getmetatable(print))
setmetatable(t, { __metatable = "protected" })
print(getmetatable(t), pcall(setmetatable, t, {})); print(pcall(setmetatable, t, nil))
setmetatable(meta, { __metatable = false })
print(getmetatable(meta), pcall(setmetatable, meta, {}))
print(pcall(setmetatable, {})); print(pcall(setmetatable, 1, {})); print(pcall(setmetatable, {}, 1))
print(pcall(getmetatable))
-- __metatable itself may be anything but nil; it is read without metamethods.
local indirect = setmetatable({}, setmetatable({}, { __index = { __metatable = "not seen" } }))
print(type(getmetatable(indirect)), setmetatable(indirect, {}) == indirect)
print(getmetatable(io.stdout).__name, getmetatable(coroutine.create(print)))
