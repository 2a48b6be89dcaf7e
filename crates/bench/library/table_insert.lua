-- covers: table.insert at the end and in the middle
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local insert = table.insert
local sum = 0
for _ = 1, 63 * scale // 1 do
  local list = {}
  for i = 1, 50000 do insert(list, i) end
  sum = sum + #list
  local middle = {}
  for i = 1, 600 do insert(middle, i // 2 + 1, "x") end
  for i = 1, 200 do insert(middle, 1, i) end
  sum = sum + #middle
end
print(sum)
