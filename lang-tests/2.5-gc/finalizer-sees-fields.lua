-- Objects reachable from a finalized object are intact in its finalizer (2.5.3).
-- expect: ok
--| parent sees child
--| child sees parent

local log = {}
local function make()
  local parent = { name = "parent" }
  local child = setmetatable({ name = "child", parent = parent }, { __gc = function(o)
    log[#log + 1] = o.name .. " sees " .. o.parent.name
  end })
  setmetatable(parent, { __gc = function(o)
    log[#log + 1] = o.name .. " sees " .. o.child.name
  end })
  parent.child = child
end
make()
collectgarbage()
print(table.concat(log, "\n"))
