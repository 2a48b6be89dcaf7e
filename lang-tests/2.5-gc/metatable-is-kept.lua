-- An object keeps its metatable and the tables behind it alive (2.5).
-- expect: ok
--| base	true	true
--| nil	nil	nil

local weak = setmetatable({}, { __mode = "v" })
local function make()
  local base = { name = "base" }
  local mt = { __index = base }
  weak.base, weak.mt = base, mt
  return setmetatable({}, mt)
end
local o = make()
collectgarbage()
print(o.name, weak.base ~= nil, weak.mt ~= nil)
setmetatable(o, nil)
collectgarbage()
print(o.name, weak.base, weak.mt)
