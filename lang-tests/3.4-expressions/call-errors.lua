-- Calling what cannot be called, with the name that the message gives (3.4.10).
-- expect: ok
--| call-errors.lua:32: attempt to call a nil value (local 'x')
--| call-errors.lua:33: attempt to call a nil value (upvalue 'up')
--| call-errors.lua:34: attempt to call a nil value (global 'undefined')
--| call-errors.lua:35: attempt to call a nil value (field 'missing')
--| call-errors.lua:36: attempt to call a nil value (field 'missing')
--| call-errors.lua:37: attempt to call a nil value (method 'missing')
--| call-errors.lua:38: attempt to call a nil value (method 'missing')
--| call-errors.lua:39: attempt to call a nil value (field 'integer index')
--| call-errors.lua:40: attempt to call a nil value (field '?')
--| call-errors.lua:41: attempt to call a string value (constant 'x')
--| call-errors.lua:42: attempt to call a number value
--| call-errors.lua:43: attempt to call a table value
--| call-errors.lua:44: attempt to call a nil value
--| call-errors.lua:45: attempt to call a boolean value
--| call-errors.lua:46: attempt to index a nil value (local 'x')
--| call-errors.lua:47: attempt to index a nil value (upvalue 'up')
--| call-errors.lua:48: attempt to index a nil value (global 'undefined')
--| call-errors.lua:49: attempt to call a nil value (method 'missing')
--| call-errors.lua:50: attempt to call a number value (local 'x')
--| call-errors.lua:51: attempt to call a nil value (global 'undefined')
--| call-errors.lua:52: attempt to call a nil value (method 'missing')
--| call-errors.lua:53: attempt to call a nil value
--| call-errors.lua:54: attempt to call a nil value (field 'missing')
--| call-errors.lua:55: attempt to call a number value (for iterator 'for iterator')
--| call-errors.lua:56: attempt to call a number value

local up
local t = { inner = {} }
local function try(f) print(select(2, pcall(f))) end
try(function() local x; x() end)
try(function() up() end)
try(function() undefined() end)
try(function() t.missing() end)
try(function() t.inner.missing(1) end)
try(function() t:missing() end)
try(function() t.inner:missing() end)
try(function() t[1]() end)
try(function() t[up or "key"]() end)
try(function() ("x")() end)
try(function() (1)() end)
try(function() ({})() end)
try(function() (nil)() end)
try(function() (true)() end)
try(function() local x; x.y() end)
try(function() up:method() end)
try(function() undefined.x() end)
try(function() ("x"):missing() end)
try(function() local x = 5; return x() end)
try(function() return undefined(1) end)
try(function() return t:missing(1) end)
try(function() local function f() end; f()() end)
try(function() string.missing("x") end)
try(function() for i in 5 do end end)
try(function() local a <const> = 5; a() end)
