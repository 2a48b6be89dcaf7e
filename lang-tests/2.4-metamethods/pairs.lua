-- __pairs replaces the iteration of pairs (2.4, 6.1).
-- expect: ok
--| 1	1
--| 2	4
--| 3	9
--| 3	3	nil
--| 3	true
--| false	bad argument #1 to 'pairs' (value expected)
--| 3	false	pairs.lua:22: bad argument #1 to 'for iterator' (table expected, got nil)
--| 1=1 2=2 3=30 4=40 

local o = setmetatable({}, { __pairs = function(t)
  return function(state, k)
    k = (k or 0) + 1
    if k <= state then return k, k * k end
  end, 3, nil, "a fourth value is dropped"
end })
for k, v in pairs(o) do print(k, v) end
print(select("#", pairs(o)), (select(2, pairs(o))), (select(3, pairs(o))))
print(select("#", pairs({})), (pairs({})) == next)
print(pcall(pairs))
print(select("#", pairs(nil)), pcall(function() for k in pairs(nil) do end end))
local p = setmetatable({ 1, 2 }, { __index = function(t, i) if i <= 4 then return i * 10 end end })
for i, v in ipairs(p) do io.write(i, "=", v, " ") end
print()
