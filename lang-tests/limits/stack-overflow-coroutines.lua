-- Coroutines resumed inside each other without end are a catchable error (implementation limit).
-- expect: ok
--| false	true
--| false	true
--| false	true
--| false	true
--| still fine
-- skip(tier2-gc-stress): each growth collects, which stack-overflow-recursion.lua shows

local function nest(n)
  local ok, message = coroutine.resume(coroutine.create(nest), n + 1)
  if not ok then error(message, 0) end
  return message
end
local ok, message = pcall(nest, 1)
print(ok, message:find("overflow", 1, true) ~= nil)
local function wrapped() return coroutine.wrap(wrapped)() end
ok, message = pcall(wrapped)
print(ok, message:find("overflow", 1, true) ~= nil)
local co = coroutine.wrap(function()
  local function recurse() return 1 + recurse() end
  local ok, message = pcall(recurse)
  coroutine.yield(ok, message:find("stack overflow", 1, true) ~= nil)
  return recurse()
end)
print(co())
ok, message = pcall(co)
print(ok, message:find("stack overflow", 1, true) ~= nil)
print(coroutine.wrap(function() return "still fine" end)())
