-- covers: pairs over lists, records and maps
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local list, record, map = { 1, 2, 3 }, { x = 1, y = 2, z = 3 }, {}
for i = 1, 1000 do map["key" .. i] = i end
local sum = 0
for i = 1, 700000 * scale // 1 do
  for k, v in pairs(list) do sum = sum + k * v end
  for _, v in pairs(record) do sum = sum + v end
  if i % 100 == 0 then for _, v in pairs(map) do sum = sum + v end end
end
print(sum)
