-- covers: table.sort without a comparator: integers, floats, strings
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local seed = 42
local function random()
  seed = (seed * 16807) % 2147483647
  return seed
end
local sum = 0
for _ = 1, 8 * scale // 1 do
  local integers, floats, strings = {}, {}, {}
  for i = 1, 20000 do
    integers[i], floats[i], strings[i] = random(), random() / 7, "key" .. random() % 100000
  end
  table.sort(integers)
  table.sort(floats)
  table.sort(strings)
  sum = sum + integers[1] + floats[2] // 1 + #strings[3]
end
print(sum)
