-- covers: math.sqrt, sin, exp, log and atan
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local sqrt, sin, exp, log, atan = math.sqrt, math.sin, math.exp, math.log, math.atan
local sum = 0.0
for i = 1, 3000000 * scale // 1 do
  sum = sum + sqrt(i) + sin(i) + exp(i % 10) + log(i) + atan(i, 3)
end
print(string.format("%.6f", sum))
