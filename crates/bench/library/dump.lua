-- covers: string.dump, and load of what it returns
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local dump, load = string.dump, load
local function sample(list, limit)
  local best, total = nil, 0
  for i, value in ipairs(list) do
    if value < limit and (not best or value > best) then best = value end
    total = total + value * i
  end
  return best, function() return total end
end
local sum = 0
for _ = 1, 140000 * scale // 1 do
  local f = load(dump(sample), "=dumped", "b")
  sum = sum + f({ 3, 9, 4 }, 5) + load(dump(sample, true))({ 1 }, 2)
end
print(sum)
