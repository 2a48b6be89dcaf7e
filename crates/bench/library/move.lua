-- covers: table.move within a table and between tables
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local move = table.move
local list, other = {}, {}
for i = 1, 1000 do list[i] = "x" .. i % 10 end
local sum = 0
for i = 1, 27000 * scale // 1 do
  move(list, 1, 1000, 1, other)
  move(list, 2, 500, 1)
  for k = 1, 20 do move(list, k, k + 9, 100) end
  sum = sum + #move(list, 1, 300, 1, {})
end
print(sum, list[1], other[1000])
