-- Arithmetic on values that are not numbers (3.4.1).
-- expect: ok
--| arithmetic-errors.lua:27: attempt to perform arithmetic on a nil value
--| arithmetic-errors.lua:28: attempt to perform arithmetic on a nil value
--| arithmetic-errors.lua:29: attempt to perform arithmetic on a table value
--| arithmetic-errors.lua:30: attempt to perform arithmetic on a boolean value
--| arithmetic-errors.lua:31: attempt to perform arithmetic on a function value (global 'print')
--| arithmetic-errors.lua:32: attempt to add a 'string' with a 'number'
--| arithmetic-errors.lua:33: attempt to add a 'number' with a 'string'
--| arithmetic-errors.lua:34: attempt to add a 'string' with a 'table'
--| arithmetic-errors.lua:35: attempt to add a 'table' with a 'string'
--| arithmetic-errors.lua:36: attempt to concatenate a table value
--| arithmetic-errors.lua:37: attempt to mul a 'string' with a 'number'
--| arithmetic-errors.lua:38: attempt to unm a 'string' with a 'string'
--| arithmetic-errors.lua:39: attempt to perform arithmetic on a nil value (local 'b')
--| arithmetic-errors.lua:40: attempt to perform arithmetic on a table value (field 'x')
--| arithmetic-errors.lua:41: attempt to perform arithmetic on a nil value (global 'undefined')
--| arithmetic-errors.lua:42: attempt to perform arithmetic on a nil value (global 'undefined')
--| arithmetic-errors.lua:43: attempt to perform arithmetic on a table value (local 'a')
--| arithmetic-errors.lua:44: attempt to perform arithmetic on a table value (local 'a')
--| arithmetic-errors.lua:45: attempt to perform arithmetic on a table value (local 'a')
--| arithmetic-errors.lua:46: attempt to perform arithmetic on a nil value (local 'a')
--| arithmetic-errors.lua:47: attempt to perform arithmetic on a nil value (field 'n')
--| arithmetic-errors.lua:48: attempt to perform arithmetic on a nil value (field '?')

local function try(f) print(select(2, pcall(f))) end
try(function() return nil + 1 end)
try(function() return 1 + nil end)
try(function() return {} * 2 end)
try(function() return 2 ^ true end)
try(function() return -print end)
try(function() return "abc" + 1 end)
try(function() return 1 + "abc" end)
try(function() return "10" + {} end)
try(function() return {} + "10" end)
try(function() return "abc" .. {} end)
try(function() local a = "x"; return a * 2 end)
try(function() local a = "x"; return -a end)
try(function() local a, b = 1; return a - b end)
try(function() local t = { x = {} }; return t.x / 2 end)
try(function() return 2 // undefined end)
try(function() return undefined % 2 end)
try(function() local a, b = {}, {}; return a + b end)
try(function() local a = {}; return 10 - a end)
try(function() local a = {}; return a - 10 end)
try(function() local a; a = a + 1 end)
try(function() local t = {}; t.n = t.n + 1 end)
try(function() local t, k = {}, "key"; t[k] = t[k] + 1 end)
