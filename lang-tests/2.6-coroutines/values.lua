-- resume and yield pass values in both directions (2.6).
-- expect: ok
--| start	1	2
--| true	3
--| first	10
--| true	20	two
--| second	d	e
--| true
--| nothing
--| true	end	nil	3
--| false	cannot resume dead coroutine
--| false	cannot resume dead coroutine

local co = coroutine.create(function(a, b)
  print("start", a, b)
  local c = coroutine.yield(a + b)
  print("first", c)
  local d, e = coroutine.yield(c * 2, "two")
  print("second", d, e)
  print("nothing", coroutine.yield())
  return "end", nil, 3
end)
print(coroutine.resume(co, 1, 2))
print(coroutine.resume(co, 10))
print(coroutine.resume(co, "d", "e"))
print(coroutine.resume(co))
print(coroutine.resume(co))
print(coroutine.resume(co, 1))
