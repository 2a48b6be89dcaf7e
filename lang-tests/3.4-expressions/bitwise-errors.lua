-- Bitwise operations on values without an integer representation (3.4.2).
-- expect: ok
--| bitwise-errors.lua:25: number has no integer representation
--| bitwise-errors.lua:26: number has no integer representation
--| bitwise-errors.lua:27: number has no integer representation
--| bitwise-errors.lua:28: number has no integer representation
--| bitwise-errors.lua:29: number has no integer representation
--| bitwise-errors.lua:30: number has no integer representation
--| bitwise-errors.lua:31: number (field 'huge') has no integer representation
--| bitwise-errors.lua:32: number has no integer representation
--| bitwise-errors.lua:33: attempt to perform bitwise operation on a nil value
--| bitwise-errors.lua:34: attempt to perform bitwise operation on a table value
--| bitwise-errors.lua:35: attempt to perform bitwise operation on a table value
--| bitwise-errors.lua:36: attempt to perform bitwise operation on a boolean value
--| bitwise-errors.lua:37: number (local 'a') has no integer representation
--| bitwise-errors.lua:38: number (local 'a') has no integer representation
--| bitwise-errors.lua:39: number (local 'b') has no integer representation
--| bitwise-errors.lua:40: number (field 'f') has no integer representation
--| bitwise-errors.lua:41: attempt to perform bitwise operation on a nil value (global 'undefined')
--| bitwise-errors.lua:42: attempt to perform bitwise operation on a table value (local 'a')
--| bitwise-errors.lua:43: attempt to perform bitwise operation on a function value (local 'a')
--| lowest is fine

local function try(f) print(select(2, pcall(f))) end
try(function() return 1.5 & 1 end)
try(function() return 1 | 2.5 end)
try(function() return 2^63 | 0 end)
try(function() return 2^64 ~ 1 end)
try(function() return ~1.5 end)
try(function() return 1 << 0.5 end)
try(function() return math.huge | 0 end)
try(function() return (0/0) | 0 end)
try(function() return nil & 1 end)
try(function() return 1 << {} end)
try(function() return ~{} end)
try(function() return true ~ 1 end)
try(function() local a = 1.5; return a & 1 end)
try(function() local a = 1.5; return 1 & a end)
try(function() local a, b = 1, 2.5; return a | b end)
try(function() local t = { f = 0.5 }; return t.f >> 1 end)
try(function() return undefined | 1 end)
try(function() local a = {}; return a & 0xFF end)
try(function() local a = print; return 5 ~ a end)
try(function() local a = -2^63 | 0; return a == math.mininteger and error("lowest is fine", 0) end)
