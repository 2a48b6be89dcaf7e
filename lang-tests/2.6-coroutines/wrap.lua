-- wrap returns a function that resumes and propagates errors (2.6, 6.2).
-- expect: ok
--| 3	13	113
--| 1
--| false	cannot resume dead coroutine
--| false	wrap.lua:21: in wrap
--| false	cannot resume dead coroutine
--| true
--| false	bad argument #1 to 'coroutine.wrap' (function expected, got number)
--| false	wrap.lua:27: attempt to index a nil value (local 'x')
--| false	level 2

local f = coroutine.wrap(function(...)
  local n = select("#", ...)
  while true do n = n + coroutine.yield(n) end
end)
print(f(1, 2, 3), f(10), f(100))
local g = coroutine.wrap(function() return 1 end)
print(g())
print(pcall(g))
local e = coroutine.wrap(function() error("in wrap") end)
print(pcall(e))
print(pcall(e))
local t = {}
print(select(2, pcall(coroutine.wrap(function() error(t) end))) == t)
print(pcall(coroutine.wrap, 5))
print(pcall(coroutine.wrap(function() local x = nil; return x.y end)))
print(pcall(coroutine.wrap(function() error("level 2", 2) end)))
