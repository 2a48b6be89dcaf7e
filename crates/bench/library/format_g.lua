-- covers: string.format of floats with %g and %.14g
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local format = string.format
local sum = 0
for i = 1, 360000 * scale // 1 do
  local x = i * 0.37
  sum = sum + #format("%g", x) + #format("%.14g", x) + #format("%.3g", -x) + #format("%g", i / 7)
end
print(sum)
