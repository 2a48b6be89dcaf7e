-- Floats that no integer equals are keys like others, however large they are.
-- expect: ok
--| 4	10
--| true	nil
--| false	invalid key to 'next'
local t = {[2^63] = 1, [-2^80] = 2, [1e300] = 3, [math.huge] = 4}
local count, sum = 0, 0
local k, v = next(t)
while k ~= nil do
  count, sum = count + 1, sum + v
  k, v = next(t, k)
end
print(count, sum)
print(pcall(next, {[2^63] = 1}, 2^63))
print(pcall(next, {[2^53] = 1}, 2^53))
