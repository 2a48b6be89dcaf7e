-- covers: table.sort with a comparator: numbers, records, strings
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local seed = 42
local function random()
  seed = (seed * 16807) % 2147483647
  return seed
end
local sum = 0
for _ = 1, 11 * scale // 1 do
  local numbers, records, names = {}, {}, {}
  for i = 1, 10000 do
    numbers[i], records[i] = random(), { key = random(), id = i }
    names[i] = "key" .. random() % 100000
  end
  table.sort(numbers, function(a, b) return a > b end)
  table.sort(records, function(a, b) return a.key < b.key end)
  table.sort(names, function(a, b) return a > b end)
  sum = sum + numbers[1] + records[2].id + #names[3]
end
print(sum)
