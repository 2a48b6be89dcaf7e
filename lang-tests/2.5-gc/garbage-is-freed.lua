-- Unreachable objects, cycles included, are collected (2.5).
-- expect: ok
--| nil	nil	nil	nil
--| 400
--| true

local weak = setmetatable({}, { __mode = "v" })
local function make()
  local a, b = {}, {}
  a.b, b.a = b, a
  weak.a, weak.b = a, b
  weak.f = function() return a end
  weak.co = coroutine.create(function() return a end)
  weak.string = ("long"):rep(100)
end
make()
collectgarbage()
print(weak.a, weak.b, weak.f, weak.co)
-- Strings are values: a weak table does not drop them.
print(#weak.string)
local kept = {}
weak.kept = kept
collectgarbage()
print(weak.kept == kept)
