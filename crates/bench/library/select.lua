-- covers: select('#', ...) and select(n, ...)
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local select = select
local function total(...)
  local sum = 0
  for i = 1, select("#", ...) do sum = sum + (select(i, ...)) end
  return sum + select(-1, ...)
end
local sum = 0
for i = 1, 1600000 * scale // 1 do sum = sum + total(i, 2, 3, 4, 5) end
print(sum)
