-- covers: tostring of floats
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local tostring = tostring
local sum = 0
for i = 1, 320000 * scale // 1 do
  sum = sum + #tostring(i / 8) + #tostring(i * 0.1) + #tostring(i / 3)
end
print(sum)
