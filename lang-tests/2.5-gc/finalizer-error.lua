-- An error in a finalizer is a warning; it does not reach the program (2.5.3).
-- expect: ok
--| true	0
--| 3

warn("@off")
local after = 0
local function make()
  setmetatable({}, { __gc = function() after = after + 1; error("in finalizer") end })
  setmetatable({}, { __gc = function() after = after + 1; error({}) end })
  setmetatable({}, { __gc = function() after = after + 1; local x = nil + 1 end })
end
make()
print(pcall(collectgarbage))
print(after)
