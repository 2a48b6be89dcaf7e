-- coroutine.isyieldable and running (6.2).
-- expect: ok
--| false	true
--| true
--| true	true	false	thread
--| in sort	false
--| true	true
--| true
--| false	bad argument #1 to 'coroutine.isyieldable' (thread expected, got number)

print(coroutine.isyieldable(), select(2, coroutine.running()))
local co = coroutine.create(function()
  local self, main = coroutine.running()
  coroutine.yield(coroutine.isyieldable(), main, type(self))
  table.sort({ 1, 2 }, function() print("in sort", coroutine.isyieldable()) return false end)
  return self
end)
print(coroutine.isyieldable(co))
print(coroutine.resume(co))
local ok, self = coroutine.resume(co)
print(self == co, coroutine.isyieldable(co))
print(coroutine.running() == coroutine.running())
print(pcall(coroutine.isyieldable, 5))
