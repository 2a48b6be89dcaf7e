-- covers: dynamic programming over rows of integers and strings' bytes
-- Edit distance, longest common subsequence with the subsequence itself, a
-- knapsack, and coin change counts.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(26 * scale))

local seed = 1234
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local function random_text(length)
  local bytes = {}
  for i = 1, length do bytes[i] = string.char(97 + random(6)) end
  return table.concat(bytes)
end

local function edit_distance(a, b)
  local previous, current = {}, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    current[0] = i
    local c = a:byte(i)
    for j = 1, #b do
      local cost = previous[j - 1] + (c == b:byte(j) and 0 or 1)
      if previous[j] + 1 < cost then cost = previous[j] + 1 end
      if current[j - 1] + 1 < cost then cost = current[j - 1] + 1 end
      current[j] = cost
    end
    previous, current = current, previous
  end
  return previous[#b]
end

local function common_subsequence(a, b)
  local lengths = {}
  for i = 0, #a do
    lengths[i] = {}
    for j = 0, #b do lengths[i][j] = 0 end
  end
  for i = 1, #a do
    local row, above = lengths[i], lengths[i - 1]
    for j = 1, #b do
      if a:byte(i) == b:byte(j) then
        row[j] = above[j - 1] + 1
      else
        row[j] = math.max(above[j], row[j - 1])
      end
    end
  end
  local out, i, j = {}, #a, #b
  while i > 0 and j > 0 do
    if a:byte(i) == b:byte(j) then
      out[#out + 1] = a:sub(i, i)
      i, j = i - 1, j - 1
    elseif lengths[i - 1][j] >= lengths[i][j - 1] then
      i = i - 1
    else
      j = j - 1
    end
  end
  return table.concat(out):reverse()
end

local function knapsack(items, capacity)
  local best = {}
  for weight = 0, capacity do best[weight] = 0 end
  for _, item in ipairs(items) do
    for weight = capacity, item.weight, -1 do
      local with = best[weight - item.weight] + item.value
      if with > best[weight] then best[weight] = with end
    end
  end
  return best[capacity]
end

local function change_ways(coins, amount)
  local ways = { [0] = 1 }
  for sum = 1, amount do ways[sum] = 0 end
  for _, coin in ipairs(coins) do
    for sum = coin, amount do
      ways[sum] = (ways[sum] + ways[sum - coin]) % 1000003
    end
  end
  return ways[amount]
end

local distance, checksum, value, ways = 0, 0, 0, 0
for _ = 1, ROUNDS do
  local a, b = random_text(320), random_text(300)
  distance = distance + edit_distance(a, b)
  local common = common_subsequence(a, b)
  for i = 1, #common do checksum = (checksum * 31 + common:byte(i)) % 1000003 end
  local items = {}
  for i = 1, 60 do items[i] = { weight = random(40) + 1, value = random(100) } end
  value = value + knapsack(items, 1500)
  ways = ways + change_ways({ 1, 2, 5, 10, 20, 50, 100, 200 }, 12000)
end
print(string.format("dynamic distance %d common %d value %d ways %d",
  distance, checksum, value, ways))
