-- A finalizer may store its object, which lives on with its fields (2.5.3).
-- expect: ok
--| 1	phoenix	still here
--| 1	still here
--| 1

saved = nil
local finalized = 0
local function make()
  local o = { name = "phoenix", child = { deep = "still here" } }
  setmetatable(o, { __gc = function(o) finalized = finalized + 1; saved = o end })
end
make()
collectgarbage()
print(finalized, saved.name, saved.child.deep)
collectgarbage()
print(finalized, saved.child.deep)
saved = nil
collectgarbage()
print(finalized)
