-- A coroutine is closed at another depth of calls than that at which it was last resumed.
-- expect: ok
--| true	1
--| true	1	2
--| false	e
--| 5
--| 3
--| true

local function nest(n, f) if n == 0 then return f() end
  table.sort({1,2}, function(a,b) nest(n-1,f) f=function() end return a<b end) end
local co = coroutine.create(function()
  local x <close> = setmetatable({}, {__close=function()
     print(pcall(function() return 1,2 end))
     print(pcall(error, "e"))
     print(select('#', pcall(pcall, pcall, print, 5)))
  end})
  coroutine.yield(1)
end)
nest(100, function() print(coroutine.resume(co)) end)
print(coroutine.close(co))
