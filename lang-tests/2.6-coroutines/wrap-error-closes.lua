-- An error in a wrapped coroutine closes its pending variables (2.6, 6.2).
-- expect: ok
--| first
--| close x	failed
--| false	failed
--| false	cannot resume dead coroutine
--| false	close saw original

local function closer(name)
  return setmetatable({}, { __close = function(_, e) print("close " .. name, e) end })
end
local f = coroutine.wrap(function()
  local x <close> = closer("x")
  coroutine.yield("first")
  error("failed", 0)
end)
print(f())
print(pcall(f))
print(pcall(f))
local g = coroutine.wrap(function()
  local x <close> = setmetatable({}, { __close = function(_, e) error("close saw " .. e, 0) end })
  error("original", 0)
end)
print(pcall(g))
