-- covers: math.max, min and abs
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local max, min, abs = math.max, math.min, math.abs
local sum = 0
for i = 1, 3800000 * scale // 1 do
  sum = sum + max(i, 500000) - min(i, 1000, 7) + abs(-i) + max(0.5, i / 2)
end
print(sum)
