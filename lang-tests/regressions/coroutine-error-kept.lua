-- A coroutine keeps the error that ended it for coroutine.close, over collections (6.2).
-- expect: ok
--| false	value 7
--| false	cannot resume dead coroutine
--| false	value 7	7

local co = coroutine.create(function(n) error({text = 'value ' .. n, n = n}) end)
local ok, e = coroutine.resume(co, 7)
print(ok, e.text)
e = nil
print(coroutine.resume(co))
for i = 1, 3 do
  collectgarbage()
  local t = {{i .. ' some'}, {i .. ' other'}, {}}
end
ok, e = coroutine.close(co)
print(ok, e.text, e.n)
