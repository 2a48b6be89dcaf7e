-- covers: coroutine.create, resume, status and close
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local create, resume = coroutine.create, coroutine.resume
local yield, status = coroutine.yield, coroutine.status
local echo = create(function(x) while true do x = yield(x + 1) end end)
local sum = 0
for i = 1, 3100000 * scale // 1 do
  local _, x = resume(echo, i)
  sum = sum + x
end
for i = 1, 310000 * scale // 1 do
  local co = create(function(a) local b = yield(a) return b end)
  resume(co, i)
  resume(co, i)
  if status(co) == "dead" then sum = sum + 1 end
end
print(sum)
