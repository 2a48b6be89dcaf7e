-- __len overrides the border of a table (2.4).
-- expect: ok
--| length of o	3
--| 2	nil
--| 1
--| false	len.lua:17: attempt to get length of a nil value (local 'x')
--| false	len.lua:18: attempt to get length of a number value
--| false	bad argument #1 to 'rawlen' (table or string expected, got number)
--| 3	3	2
--| 1	1

local mt = { __len = function(t) return "length of " .. t.name end }
local o = setmetatable({ 1, 2, 3, name = "o" }, mt)
print(#o, rawlen(o))
print(#setmetatable({ 1, 2 }, {}), #setmetatable({}, { __len = function() return nil end }))
print(#setmetatable({}, { __len = function() return 1, 2, 3 end }))
print(pcall(function() local x = nil; return #x end))
print(pcall(function() return #5 end))
print(pcall(rawlen, 5))
print(#"abc", rawlen("abc"), rawlen({ 1, 2 }))
local calls = 0
local n = setmetatable({}, { __len = function(self, other)
  calls = calls + 1; return rawequal(self, other) and 1 or 0
end })
print(#n, calls)
