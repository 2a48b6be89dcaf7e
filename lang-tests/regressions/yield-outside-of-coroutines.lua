-- `coroutine.yield` raises an error where it may not yield, even if its first argument is a
-- coroutine.
-- expect: ok
--| false	attempt to yield from outside a coroutine
--| suspended
--| false	attempt to yield across a C-call boundary
--| suspended

local function new()
  local co = coroutine.create(function() local x = coroutine.yield(1) return x end)
  coroutine.resume(co)
  return co
end
local co = new()
print(pcall(function() local a, b = coroutine.yield(co, "argument") return a, b end))
print(coroutine.status(co))
print(coroutine.wrap(function()
  return pcall(table.sort, { 3, 2, 1 }, function(a, b)
    coroutine.yield(co, a, b)
    return a < b
  end)
end)())
print(coroutine.status(co))
for _ = 1, 200 do pcall(function() coroutine.yield(co) end) end
assert(coroutine.status(co) == "suspended")
