-- __call shifts any number of arguments by one (2.4).
-- expect: ok
--| 100	100
--| 1	1
--| 1	2	101
--| 1	nil	nil
--| 1	2	3

local o = setmetatable({}, { __call = function(self, ...)
  return select("#", ...), (select(-1, ...))
end })
local args = {}
for i = 1, 100 do args[i] = i end
print(o(table.unpack(args)))
print(o(table.unpack(args, 1, 1)))
local vararg = setmetatable({}, { __call = function(...) return select("#", ...) end })
print(vararg(), vararg(nil), vararg(table.unpack(args)))
local fixed = setmetatable({}, { __call = function(self, a, b, c) return a, b, c end })
print(fixed(1)); print(fixed(1, 2, 3, 4))
