-- covers: next called by name
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local next = next
local map, empty, sum = {}, {}, 0
for i = 1, 100 do map["key" .. i] = i end
for i = 1, 110000 * scale // 1 do
  local k, v = next(map)
  while k do
    sum = sum + v
    k, v = next(map, k)
  end
  if next(empty) == nil then sum = sum + 1 end
end
print(sum)
