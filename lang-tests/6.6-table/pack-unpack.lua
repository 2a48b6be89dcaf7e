-- table.pack and table.unpack (6.6).
-- expect: ok
--| 4	1	nil	3	0	1	2
--| 1	2	3
--| 2	3
--| 2	3
--| 1	2	nil	nil
--|
--| 1	nil	3	nil
--| 3	nil	nil	1
--| m
--|
--| 5
--| false	attempt to get length of a nil value
--| false	attempt to index a number value
--| false	bad argument #2 to 'table.unpack' (number expected, got string)
--| false	too many results to unpack
--| true	nil	nil
--| 10	20	30
--| a	nil

local t = table.pack(1, nil, 3, nil)
print(t.n, t[1], t[2], t[3], table.pack().n, table.pack(nil).n, #table.pack("a", "b"))
print(table.unpack({ 1, 2, 3 })); print(table.unpack({ 1, 2, 3 }, 2))
print(table.unpack({ 1, 2, 3 }, 2, 3)); print(table.unpack({ 1, 2 }, 1, 4))
print(table.unpack({}, 1, 0)); print(table.unpack(t, 1, t.n))
print(select("#", table.unpack({}, 1, 3)), table.unpack({ 1, 2 }, -1, 1))
print(table.unpack({ [math.maxinteger] = "m" }, math.maxinteger, math.maxinteger))
print(table.unpack({ 1, 2 }, math.maxinteger, math.mininteger)); print((table.unpack({ 5, 6 })))
print(pcall(table.unpack)); print(pcall(table.unpack, 1, 1, 1)); print(pcall(table.unpack, {}, "x"))
print(pcall(table.unpack, {}, 1, 1e8)); print(pcall(table.unpack, "abc", 1, 2))
print(table.unpack(setmetatable({}, { __index = function(_, i) return i * 10 end }), 1, 3))
print(table.unpack(setmetatable({ "a" }, { __len = function() return 2 end })))
