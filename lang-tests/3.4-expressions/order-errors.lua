-- Values that have no order (3.4.4).
-- expect: ok
--| order-errors.lua:24: attempt to compare number with string
--| order-errors.lua:25: attempt to compare string with number
--| order-errors.lua:26: attempt to compare two table values
--| order-errors.lua:27: attempt to compare table with number
--| order-errors.lua:28: attempt to compare two nil values
--| order-errors.lua:29: attempt to compare number with nil
--| order-errors.lua:30: attempt to compare nil with number
--| order-errors.lua:31: attempt to compare two boolean values
--| order-errors.lua:32: attempt to compare two function values
--| order-errors.lua:33: attempt to compare two function values
--| order-errors.lua:34: attempt to compare string with number
--| order-errors.lua:35: attempt to compare number with table
--| order-errors.lua:36: attempt to compare string with table
--| order-errors.lua:37: attempt to compare nil with number
--| order-errors.lua:38: attempt to compare number with nil
--| order-errors.lua:39: attempt to compare string with number
--| order-errors.lua:40: attempt to compare two FILE* values
--| order-errors.lua:41: attempt to compare thread with number
--| order-errors.lua:42: attempt to compare number with table

local function try(f) print(select(2, pcall(f))) end
try(function() return 1 < "2" end)
try(function() return "1" < 2 end)
try(function() return {} < {} end)
try(function() return {} <= 1 end)
try(function() return nil < nil end)
try(function() return nil > 1 end)
try(function() return 1 >= nil end)
try(function() return true < false end)
try(function() return print < print end)
try(function() return print < pcall end)
try(function() return "a" < 1 end)
try(function() return 1 <= {} end)
try(function() return {} > "x" end)
try(function() local a; return a < 5 end)
try(function() local a; return 5 < a end)
try(function() local a = "x"; return a <= 1.5 end)
try(function() return io.stdout < io.stdout end)
try(function() return coroutine.create(print) < 1 end)
try(function() if 1 < {} then end end)
