-- An error ends its coroutine and is returned by resume (2.6).
-- expect: ok
--| false	errors.lua:15: oops
--| false	cannot resume dead coroutine
--| false	5
--| true	1
--| false	nil
--| false	cannot resume non-suspended coroutine
--| true	false	cannot resume non-suspended coroutine
--| false	bad argument #1 to 'coroutine.create' (function expected, got number)
--| false	bad argument #1 to 'coroutine.create' (function expected, got no value)
--| false	bad argument #1 to 'coroutine.resume' (thread expected, got function)
--| true	true	false	cannot resume non-suspended coroutine

local co = coroutine.create(function() error("oops") end)
print(coroutine.resume(co))
print(coroutine.resume(co))
co = coroutine.create(function() error({ code = 5 }) end)
local ok, e = coroutine.resume(co)
print(ok, e.code)
co = coroutine.create(function() coroutine.yield(1); error(nil) end)
print(coroutine.resume(co))
print(coroutine.resume(co))
print(coroutine.resume(coroutine.running()))
co = coroutine.create(function() return coroutine.resume(co) end)
print(coroutine.resume(co))
print(pcall(coroutine.create, 1))
print(pcall(coroutine.create))
print(pcall(coroutine.resume, print))
local outer
outer = coroutine.create(function()
  local inner = coroutine.create(function() return coroutine.resume(outer) end)
  return coroutine.resume(inner)
end)
print(coroutine.resume(outer))
