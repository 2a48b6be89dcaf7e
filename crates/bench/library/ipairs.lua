-- covers: ipairs over short and long lists
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local short, long = { 1, 2, 3 }, {}
for i = 1, 1000 do long[i] = i end
local sum = 0
for i = 1, 1300000 * scale // 1 do
  for k, v in ipairs(short) do sum = sum + k * v end
  if i % 100 == 0 then for _, v in ipairs(long) do sum = sum + v end end
end
print(sum)
