-- covers: math.random: floats, up to n, in a range
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
math.randomseed(42)
local random = math.random
local sum = 0
for _ = 1, 5100000 * scale // 1 do
  sum = sum + random(6) + random(10, 20) + (random() < 0.5 and 1 or 0)
end
print(sum)
