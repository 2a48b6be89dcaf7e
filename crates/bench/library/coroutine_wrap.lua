-- covers: generators made with coroutine.wrap
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local wrap, yield = coroutine.wrap, coroutine.yield
local function range(n)
  return wrap(function() for i = 1, n do yield(i) end end)
end
local sum = 0
for _ = 1, 3100 * scale // 1 do for i in range(1000) do sum = sum + i end end
for _ = 1, 210000 * scale // 1 do sum = sum + range(3)() end
print(sum)
