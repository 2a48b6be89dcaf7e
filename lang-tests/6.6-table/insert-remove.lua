-- table.insert and table.remove (6.6).
-- expect: ok
--| 4	1 2 3 4
--| 5	0 1 2 3 4
--| 6	0 1 x 2 3 4
--| 7	0 1 x 2 3 4 end
--| end	0	x
--| 4	1 2 3 4
--| nil	nil	nil	1	nil
--| 4	1 2 3 4
--| false	wrong number of arguments to 'insert'
--| false	wrong number of arguments to 'insert'
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| false	bad argument #2 to 'table.insert' (position out of bounds)
--| false	bad argument #1 to 'table.insert' (table expected, got nil)
--| false	bad argument #2 to 'table.insert' (number expected, got string)
--| false	bad argument #2 to 'table.insert' (number has no integer representation)
--| false	bad argument #2 to 'table.remove' (position out of bounds)
--| false	bad argument #2 to 'table.remove' (position out of bounds)
--| false	bad argument #1 to 'table.remove' (table expected, got no value)
--| false	bad argument #1 to 'table.remove' (table expected, got number)
--| 555
--| set	4	new
--| set	3	nil
--| 3

local t = { 1, 2, 3 }
local function show() print(#t, table.concat(t, " ")) end
table.insert(t, 4); show() table.insert(t, 1, 0); show() table.insert(t, 3, "x"); show()
table.insert(t, #t + 1, "end"); show()
print(table.remove(t), table.remove(t, 1), table.remove(t, 2)); show()
print(table.remove({}), table.remove({}, 0), table.remove({ 1 }, 2), select("#", table.remove({})),
  table.remove(t, #t + 1))
show()
print(pcall(table.insert, t)); print(pcall(table.insert, t, 1, 2, 3))
print(pcall(table.insert, t, 0, "x")); print(pcall(table.insert, t, 10, "x"))
print(pcall(table.insert, nil, 1)); print(pcall(table.insert, t, "x", 1))
print(pcall(table.insert, t, 1.5, 1))
print(pcall(table.remove, t, 10)); print(pcall(table.remove, t, -1)); print(pcall(table.remove))
print(pcall(table.remove, 5))
local q = {}
for i = 1, 50 do table.insert(q, 1, i) end
local s = 0
while #q > 0 do s = s * 3 % 1009 + table.remove(q, #q // 2 + 1) end
print(s)
local m = setmetatable({}, {
  __index = function(_, k) return k <= 3 and k or nil end,
  __len = function() return 3 end,
  __newindex = function(t, k, v) print("set", k, v) end,
})
table.insert(m, "new"); print(table.remove(m))
