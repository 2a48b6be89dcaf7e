-- An error in a wrapped coroutine propagates with its own position (2.3, 2.6).
-- expect: error
--! uncaught-in-coroutine.lua:12: uncaught-in-coroutine.lua:9: attempt to index a nil value (local 't')
--| 1

local gen = coroutine.wrap(function()
  coroutine.yield(1)
  local t = nil
  t.x = 1
end)
print(gen())
gen()
