-- __index with a table looks the key up there, its metatable included (2.4).
-- expect: ok
--| base x	middle y	own z	nil
--| nil	nil
--| added later
--| own x	base x	base x
--| base x
--| true	nil
--| nil	false	index-table.lua:24: attempt to index a number value

local base = { x = "base x", y = "base y" }
local middle = setmetatable({ y = "middle y" }, { __index = base })
local o = setmetatable({ z = "own z" }, { __index = middle })
print(o.x, o.y, o.z, o.w)
print(rawget(o, "x"), rawget(middle, "x"))
base.w = "added later"
print(o.w)
o.x = "own x"
print(o.x, middle.x, base.x)
o.x = nil
print(o.x)
local s = setmetatable({}, { __index = "a string" })
print(s.len == string.len, s.nothing)
print(o[1], pcall(function() return setmetatable({}, { __index = 5 }).x end))
