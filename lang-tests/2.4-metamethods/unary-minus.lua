-- __unm gets its operand twice (2.4).
-- expect: ok
--| true
--| true
--| false	unary-minus.lua:14: attempt to perform arithmetic on a table value
--| false	unary-minus.lua:15: attempt to perform arithmetic on a table value (local 't')
--| -2	-16	-10.0	false	unary-minus.lua:16: attempt to unm a 'string' with a 'string'
--| 2	2	false	-4.0

local mt = { __unm = function(x, y) return rawequal(x, y), x.v end }
local o = setmetatable({ v = 5 }, mt)
print(-o)
print((-o))
print(pcall(function() return -{} end))
print(pcall(function() local t = {} return -t end))
print(-"2", -"0x10", -"1e1", pcall(function() return -"abc" end))
print(- -2, -(-2), not -2, -2 ^ 2)
