-- Tables with metatables that have no __eq are compared in hot code, and then get one.
-- expect: ok
--| =s .d .d .d .d .d =s .d .d .d .d .d =s .d .d .d .d .d =s .d .d .d .d .d =s
--| =s =s =s =s =s =s =s =s =s =s =s =s =s .d .d =s =s .d =s .d =s =s .d .d =s
--| =s =s =s =s =s =s =s =s =s =s .d .d =s .d .d =s =s .d =s .d =s =s .d .d =s
--| =s .d .d .d .d .d =s .d .d .d .d .d =s .d .d .d .d .d =s .d .d .d .d .d =s
--| =s .d .d .d =s .d =s .d .d =s .d .d =s .d .d .d .d .d =s =s =s =s =s =s =s
--| =s .d .d .d =s .d =s .d .d =s .d .d =s .d .d .d .d .d =s .d =s =s =s =s =s
local class, other = {}, {}
class.__index, other.__index = class, other
local function same(a, b) return a == b end
local function differ(a, b) if a ~= b then return "differ" end return "same" end
local a, b, c = setmetatable({}, class), setmetatable({}, class), setmetatable({}, other)
local plain, made = {}, setmetatable({}, { __index = class })
local function row()
  local out = {}
  for n, x in ipairs { a, b, c, plain, made } do
    for m, y in ipairs { a, b, c, plain, made } do
      out[#out + 1] = (same(x, y) and "=" or ".") .. differ(x, y):sub(1, 1)
    end
  end
  return table.concat(out, " ")
end
local first = row()
for _ = 1, 200 do assert(row() == first) end
print(first)
class.__eq = function() return true end
print(row())
other.__eq = function() return nil end
print(row())
class.__eq = nil
print(row())
getmetatable(made).__eq = function(x, y) return rawequal(x, made) and y == plain or 1 end
print(row())
setmetatable(plain, other)
print(row())
