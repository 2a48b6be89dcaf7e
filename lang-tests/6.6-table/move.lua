-- table.move (6.6).
-- expect: ok
--| 1 1 2 3
--| 2 3 3
--| 1 2 3
--| a b 1 2 3
--| 1 2 3
--| 1 2
--| 1	3	true
--| false	bad argument #4 to 'table.move' (destination wrap around)
--| false	bad argument #3 to 'table.move' (too many elements to move)
--| false	bad argument #4 to 'table.move' (number expected, got no value)
--| false	bad argument #1 to 'table.move' (table expected, got number)
--| false	bad argument #5 to 'table.move' (table expected, got number)
--| get1 set5=1 get2 set6=2 get3 set7=3

local function show(t) print(table.concat(t, " ")) end
show(table.move({ 1, 2, 3 }, 1, 3, 2)); show(table.move({ 1, 2, 3 }, 2, 3, 1))
show(table.move({ 1, 2, 3 }, 1, 3, 1)); show(table.move({ 1, 2, 3 }, 1, 3, 3, { "a", "b" }))
show(table.move({ 1, 2, 3 }, 1, 0, 5)); show(table.move({ 1, 2 }, 1, 2, 1, {}))
local t = table.move({ 1, 2, 3 }, 1, 3, 10); print(t[10], t[12], #t == 3 or #t == 12)
print(pcall(table.move, {}, 1, math.maxinteger, 2))
print(pcall(table.move, {}, -1, math.maxinteger, 2)); print(pcall(table.move, {}, 1, 2))
print(pcall(table.move, 1, 1, 2, 3)); print(pcall(table.move, {}, 1, 2, 3, 5))
local log = {}
local src = setmetatable({}, { __index = function(_, k) log[#log + 1] = "get" .. k; return k end })
local dst = setmetatable({}, { __newindex = function(_, k, v)
  log[#log + 1] = "set" .. k .. "=" .. v
end })
table.move(src, 1, 3, 5, dst); print(table.concat(log, " "))
