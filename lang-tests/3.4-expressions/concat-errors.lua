-- Values that cannot be concatenated (3.4.6).
-- expect: ok
--| concat-errors.lua:19: attempt to concatenate a nil value
--| concat-errors.lua:20: attempt to concatenate a nil value
--| concat-errors.lua:21: attempt to concatenate a table value
--| concat-errors.lua:22: attempt to concatenate a boolean value
--| concat-errors.lua:23: attempt to concatenate a nil value
--| concat-errors.lua:24: attempt to concatenate a function value (global 'print')
--| concat-errors.lua:25: attempt to concatenate a nil value (local 'x')
--| concat-errors.lua:26: attempt to concatenate a nil value (local 'x')
--| concat-errors.lua:27: attempt to concatenate a nil value (field 'x')
--| concat-errors.lua:28: attempt to concatenate a nil value (global 'undefined')
--| concat-errors.lua:29: attempt to concatenate a table value (local 'a')
--| concat-errors.lua:30: attempt to concatenate a nil value (upvalue 'up')
--| concat-errors.lua:31: attempt to concatenate a table value
--| concat-errors.lua:32: attempt to concatenate a nil value

local function try(f) print(select(2, pcall(f))) end
try(function() return "a" .. nil end)
try(function() return nil .. "a" end)
try(function() return {} .. 1 end)
try(function() return "a" .. true end)
try(function() return "a" .. "b" .. nil .. "c" end)
try(function() return "a" .. print end)
try(function() local x; return "a" .. x end)
try(function() local x; return x .. "a" .. "b" end)
try(function() local t = {}; return "a" .. t.x .. "b" end)
try(function() return "a" .. undefined end)
try(function() local a, b = {}, {}; return a .. b end)
try(function() local up; return (function() return "x" .. up end)() end)
try(function() return 1 .. {} end)
try(function() local s = "x"; s = s .. nil end)
