-- Stores of fields of tables whose `__newindex` is a function, which is inlined: of one shape, and
-- of several.
local last
local meta = { __newindex = function(_, _, v) last = v end }
local function intercepted(one, any, v)
  one.x = v
  any.x = v
end
local function make(fields) return setmetatable(fields, meta) end
local one, other = make({ a = 1 }), make({ b = 1 })
for i = 1, 40 do intercepted(one, i % 2 == 0 and one or other, i) end
