-- The four states of a coroutine (2.6, 6.2).
-- expect: ok
--| suspended
--| inside	running
--| outer from inner	normal
--| inner from outer	suspended
--| suspended
--| dead
--| dead
--| false	bad argument #1 to 'coroutine.status' (thread expected, got nil)
--| false	bad argument #1 to 'coroutine.status' (thread expected, got no value)

local co, inner
co = coroutine.create(function()
  print("inside", coroutine.status(co))
  inner = coroutine.create(function()
    print("outer from inner", coroutine.status(co))
    coroutine.yield()
  end)
  coroutine.resume(inner)
  print("inner from outer", coroutine.status(inner))
  coroutine.yield()
end)
print(coroutine.status(co))
coroutine.resume(co)
print(coroutine.status(co))
coroutine.resume(co)
print(coroutine.status(co))
local failed = coroutine.create(error)
coroutine.resume(failed, "x")
print(coroutine.status(failed))
print(pcall(coroutine.status, nil))
print(pcall(coroutine.status))
