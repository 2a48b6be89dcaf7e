-- covers: tostring of integers
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local tostring = tostring
local sum = 0
for i = 1, 830000 * scale // 1 do
  sum = sum + #tostring(i % 1000) + #tostring(-i * 7919)
end
print(sum)
