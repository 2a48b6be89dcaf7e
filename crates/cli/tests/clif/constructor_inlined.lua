-- A constructor of objects of a class, which tier 2 inlines.
local Class = {}
local function new(x) return setmetatable({ x = x }, { __index = Class }) end
for i = 1, 20 do new(i) end
local function inlined(x)
  local o = new(x)
  return o.x
end
for i = 1, 20 do inlined(i) end
