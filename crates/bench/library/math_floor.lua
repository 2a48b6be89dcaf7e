-- covers: math.floor, ceil and modf
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local floor, ceil, modf = math.floor, math.ceil, math.modf
local sum = 0
for i = 1, 4300000 * scale // 1 do
  local x = i * 0.37
  sum = sum + floor(x) + ceil(-x) + floor(i) + modf(x)
end
print(string.format("%.0f", sum))
