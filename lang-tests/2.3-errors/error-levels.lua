-- error adds the position that its level asks for (2.3, 6.1).
-- expect: ok
--| false	msg
--| false	error-levels.lua:16: msg
--| false	error-levels.lua:18: msg
--| false	error-levels.lua:16: msg
--| false	error-levels.lua:24: msg
--| false	msg
--| false	msg
--| false	msg
--| false	error-levels.lua:28: msg
--| false	msg
--| false	error-levels.lua:18: msg
--| false	bad argument #2 to 'error' (number expected, got string)

local function thrower(level) error("msg", level) end
local function caller(level)
  thrower(level)
end
print(pcall(caller, 0))
print(pcall(caller, 1))
print(pcall(caller, 2))
print(pcall(caller))
print(pcall(thrower, 3))
print(pcall(error, "msg"))
print(pcall(error, "msg", 0))
print(pcall(error, "msg", 1))
print(pcall(error, "msg", 2))
print(pcall(error, "msg", 99))
print(pcall(caller, "2"))
print(pcall(error, "msg", "x"))
