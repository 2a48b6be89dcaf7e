-- covers: string.format of floats with %f, %.2f and %5.1f
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local format = string.format
local sum = 0
for i = 1, 290000 * scale // 1 do
  local x = i * 0.37
  sum = sum + #format("%.2f", x) + #format("%5.1f|%8.3f", x, -x)
    + #format("%f", i / 7) + #format("%.0f", x)
end
print(sum)
