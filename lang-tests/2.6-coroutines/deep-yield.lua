-- A yield keeps the whole stack of calls below it (2.6).
-- expect: ok
--| true	bottom
--| true	6050
--| true	0
--| 120
--| 120	120

local function down(n)
  if n == 0 then return coroutine.yield("bottom") end
  local r = down(n - 1)
  return r + n
end
local co = coroutine.create(down)
print(coroutine.resume(co, 100))
print(coroutine.resume(co, 1000))
local function mutual(n, f)
  if n == 0 then coroutine.yield(n) return 0 end return 1 + f(n - 1, mutual)
end
print(coroutine.resume(coroutine.create(mutual), 50, mutual))
local co2 = coroutine.wrap(function(...)
  local packed = table.pack(coroutine.yield(select("#", ...)))
  return packed.n, packed[packed.n]
end)
local args = {}
for i = 1, 120 do args[i] = i end
print(co2(table.unpack(args)))
print(co2(table.unpack(args)))
