-- Yielding where there is no coroutine is an error (2.6).
-- expect: ok
--| false	attempt to yield from outside a coroutine
--| false
--| true
--| thread	true
--| false

print(pcall(coroutine.yield, 1))
print(coroutine.isyieldable())
print(coroutine.wrap(function() return coroutine.isyieldable() end)())
local co, main = coroutine.running()
print(type(co), main)
print(coroutine.wrap(function() return select(2, coroutine.running()) end)())
