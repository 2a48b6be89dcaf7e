-- Resurrected objects leave weak values before, and weak keys after, their finalizer (2.5.4).
-- expect: ok
--| nil	value by key
--| nil	nil

local values = setmetatable({}, { __mode = "v" })
local keys = setmetatable({}, { __mode = "k" })
local seen
local function make()
  local o = setmetatable({}, { __gc = function(o) seen = { values[1], keys[o] } end })
  values[1] = o
  keys[o] = "value by key"
end
make()
collectgarbage()
print(seen[1], seen[2])
collectgarbage()
print(next(values), next(keys))
