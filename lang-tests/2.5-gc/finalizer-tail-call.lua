-- A message handler does not see errors of finalizers, also below a tail call (2.5.3).
-- expect: ok
--| true	2	0

warn("@off")
local ran, handled = 0, 0
local function fail(object)
  ran = ran + 1
  error(object)
end
local function make()
  setmetatable({}, { __gc = function(object) return fail(object) end })
  setmetatable({}, { __gc = function(...) return fail(...) end })
end
local function work()
  make()
  collectgarbage()
end
print((xpcall(work, function() handled = handled + 1 end)), ran, handled)
