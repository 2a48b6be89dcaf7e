-- A global function is found again at every call (2.2).
-- expect: ok
--| first
--| second
--| false	global-functions-are-late-bound.lua:12: attempt to call a nil value (global 'f')
--| replaced	1
--| default undefined_name
--| v!
--| nil	v!

function f() return "first" end
local function call() return f() end
print(call())
function f() return "second" end
print(call())
f = nil
print(pcall(call))
local saved = print
print = function(...) saved("replaced", ...) end
print(1)
print = saved
setmetatable(_G, { __index = function(_, name) return "default " .. name end,
                   __newindex = function(t, k, v) rawset(t, k, v .. "!") end })
print(undefined_name)
new_name = "v"
print(new_name)
setmetatable(_G, nil)
print(undefined_name, new_name)
