-- Closing does not disturb the values being returned (3.3.8).
-- expect: ok
--| args	2	table	nil
--|
--| args	2	table	nil
--| 1
--| args	2	table	nil
--| 1	2	3	4	5
--| args	2	table	nil
--| 100
--| args	2	table	nil
--| 1	nil	3	nil
--| args	2	table	nil
--| args	2	table	nil
--| 1	2
--| args	2	table	nil
--| 3
--| args	2	table	nil
--| 1

local t = setmetatable({}, { __close = function(...)
  local a, b, c, d, e = 1, 2, 3, 4, 5
  print("args", select("#", ...), type((...)), (select(2, ...)))
  return a, b, c, d, e
end })
local function many(n)
  local x <close> = t
  local r = {}
  for i = 1, n do r[i] = i end
  return table.unpack(r)
end
print(many(0))
print(many(1))
print(many(5))
print(select("#", many(100)))
local function vararg(...) local x <close> = t; return ... end
print(vararg(1, nil, 3, nil))
local function notail() local x <close> = t; return many(2) end
print(notail())
local r = { many(3) }
print(#r)
print((many(2)))
