-- covers: math.tointeger, math.type and math.ult
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local tointeger, type, ult = math.tointeger, math.type, math.ult
local sum = 0
for i = 1, 4400000 * scale // 1 do
  sum = sum + tointeger(i + 0.0) + (tointeger(i / 2) or 0)
  if type(i) == "integer" and ult(i, -1) then sum = sum + 1 end
end
print(sum)
