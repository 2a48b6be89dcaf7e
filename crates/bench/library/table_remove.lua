-- covers: table.remove from the end, the middle and the front
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local remove = table.remove
local sum = 0
for _ = 1, 47 * scale // 1 do
  local list = {}
  for i = 1, 60000 do list[i] = i end
  for _ = 1, 60000 do sum = sum + remove(list) end
  local queue = {}
  for i = 1, 800 do queue[i] = "x" .. i end
  for _ = 1, 390 do sum = sum + #remove(queue, 1) + #remove(queue, #queue // 2) end
end
print(sum)
