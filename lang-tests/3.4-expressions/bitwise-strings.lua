-- Strings are not converted by the bitwise operators, unless a metamethod does it (3.4.2, 3.4.3).
-- expect: ok
--| bitwise-strings.lua:18: attempt to perform bitwise operation on a string value (constant '10')
--| bitwise-strings.lua:19: attempt to perform bitwise operation on a string value (constant '1')
--| bitwise-strings.lua:20: attempt to perform bitwise operation on a string value (constant 'abc')
--| bitwise-strings.lua:21: attempt to perform bitwise operation on a string value (constant '1')
--| bitwise-strings.lua:22: attempt to perform bitwise operation on a string value (constant '1')
--| bitwise-strings.lua:23: attempt to perform bitwise operation on a string value (constant '0')
--| bitwise-strings.lua:24: attempt to perform bitwise operation on a string value (constant '1')
--| bitwise-strings.lua:25: attempt to perform bitwise operation on a table value
--| bitwise-strings.lua:26: attempt to perform bitwise operation on a string value (local 's')
--| bitwise-strings.lua:27: attempt to perform bitwise operation on a string value (local 's')
--| bitwise-strings.lua:28: attempt to perform bitwise operation on a string value (field 's')
--| 2	6	4	-1
--| bitwise-strings.lua:34: attempt to perform bitwise operation on a string value (constant '10')

local function try(f) print(select(2, pcall(f))) end
try(function() return "10" & 6 end)
try(function() return 6 | "1" end)
try(function() return "abc" ~ "x" end)
try(function() return "1" << 1.5 end)
try(function() return 1.5 >> "1" end)
try(function() return ~"0" end)
try(function() return "1" & {} end)
try(function() return {} & "1" end)
try(function() local s = "10"; return s & 0xFF end)
try(function() local s = "10"; return 0xFF | s end)
try(function() local t = { s = "10" }; return t.s << 1 end)
local mt = getmetatable("")
mt.__band = function(a, b) return math.tointeger(tonumber(a)) & math.tointeger(tonumber(b)) end
mt.__bnot = function(a) return ~math.tointeger(tonumber(a)) end
print("10" & 6, 6 & "0xE", "12" & "6.0", ~"0")
mt.__band, mt.__bnot = nil, nil
try(function() return "10" & 6 end)
