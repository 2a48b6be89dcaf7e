-- pairs with and without __pairs (6.1).
-- expect: ok
--| true	table	nil	3
--| pairs	1
--| pairs	1
--| 3	2	nil
--| pairs	1
--| 1	one
--| 3
--| 1 2 3 
--| false	bad argument #1 to 'pairs' (value expected)
--| nil	nil
--| text	nil
--| false	pairs.lua:36: bad argument #1 to 'for iterator' (table expected, got nil)
--| false	pairs.lua:37: bad argument #1 to 'for iterator' (table expected, got string)
--| false	attempt to call a number value
--| false	inside
--| 10100	nil
--| 1 2 3 n

local f, t, k = pairs({ 10 })
print(f == next, type(t), k, select("#", pairs({})))
local proxy = setmetatable({}, { __pairs = function(...)
  print("pairs", select("#", ...))
  return function(_, k) if not k then return 1, "one" end end, 2, nil, 4, 5
end })
print(select("#", pairs(proxy)), select(2, pairs(proxy)))
for k, v in pairs(proxy) do print(k, v) end
print(select("#", pairs(setmetatable({}, { __pairs = function() end }))))
debug.setmetatable(1, { __pairs = function(n)
  return function(_, i) i = i + 1; if i <= n then return i end end, nil, 0
end })
for i in pairs(3) do io.write(i, " ") end print()
debug.setmetatable(1, nil)
print(pcall(pairs)); print(select(3, pcall(pairs, nil))); print(select(3, pcall(pairs, "text")))
print(pcall(function() for _ in pairs(nil) do end end))
print(pcall(function() for _ in pairs("text") do end end))
print(pcall(pairs, setmetatable({}, { __pairs = 5 })))
print(pcall(pairs, setmetatable({}, { __pairs = function() error("inside", 0) end })))
-- Fields may be changed and removed while a table is walked.
local many, seen = {}, 0
for i = 1, 100 do many["k" .. i] = i; many[i] = i end
for k, v in pairs(many) do many[k] = nil; seen = seen + v end
print(seen, next(many))
-- A closing value of pairs is not one of its three.
local closed = setmetatable({}, { __pairs = function(t)
  return next, {}, nil, setmetatable({}, { __close = function() print("closed") end })
end })
for _ in pairs(closed) do end
-- Order: the array part first, in order.
local list = { 3, 1, 2, n = 3 }
local keys = {}
for k in pairs(list) do keys[#keys + 1] = tostring(k) end
print(table.concat(keys, " "))
