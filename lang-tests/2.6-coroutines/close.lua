-- coroutine.close kills a suspended or dead coroutine and closes its variables (2.6, 6.2).
-- expect: ok
--| close b	nil
--| close a	nil
--| true	dead
--| true
--| true
--| false	failed
--| close c	failed
--| false	failed
--| true
--| close d	nil
--| false	in close
--| dead	false	cannot resume dead coroutine
--| false	cannot close a running coroutine
--| true	false	cannot close a running coroutine
--| true	true	false	cannot close a normal coroutine

local function closer(name)
  return setmetatable({}, { __close = function(_, e) print("close " .. name, e) end })
end
local co = coroutine.create(function()
  local a <close> = closer("a")
  local b <close> = closer("b")
  coroutine.yield()
end)
coroutine.resume(co)
print(coroutine.close(co), coroutine.status(co))
print(coroutine.close(co))
print(coroutine.close(coroutine.create(print)))
local failed = coroutine.create(function() local c <close> = closer("c"); error("failed", 0) end)
print(coroutine.resume(failed))
print(coroutine.close(failed))
print(coroutine.close(failed))
local bad = coroutine.create(function()
  local c <close> = setmetatable({}, { __close = function() error("in close", 0) end })
  local d <close> = closer("d")
  coroutine.yield()
end)
coroutine.resume(bad)
print(coroutine.close(bad))
print(coroutine.status(bad), coroutine.resume(bad))
print(pcall(coroutine.close, coroutine.running()))
print(coroutine.resume(coroutine.create(function()
  return pcall(coroutine.close, coroutine.running())
end)))
local outer
outer = coroutine.create(function()
  return coroutine.resume(coroutine.create(function() return pcall(coroutine.close, outer) end))
end)
print(coroutine.resume(outer))
