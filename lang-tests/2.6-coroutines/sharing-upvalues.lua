-- Coroutines share upvalues with their creators while both run (2.6).
-- expect: ok
--| 1	11	13	33	33
--| 1001	1001
--| on coroutine stack
--| changed from outside
--| inside	changed from outside
--| last	dead

local n = 0
local function bump(step)
  local last = step
  while true do
    n = n + last
    last = coroutine.yield(n)
  end
end
local a, b = coroutine.wrap(bump), coroutine.wrap(bump)
print(a(1), b(10), a(2), b(20), n)
n = 1000
print(a(1), n)
local get, set
local co = coroutine.create(function()
  local v = "on coroutine stack"
  get, set = function() return v end, function(x) v = x end
  coroutine.yield()
  print("inside", v)
  v = "last"
end)
coroutine.resume(co)
print(get())
set("changed from outside")
print(get())
coroutine.resume(co)
print(get(), coroutine.status(co))
