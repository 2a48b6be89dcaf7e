-- covers: integer arrays, swaps, prefix sums
-- All permutations of small arrays by Heap's method, the next-permutation order,
-- prefix sums over two dimensions, and rotations by reversal.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(34 * scale))

local function heap_permutations(items, visit)
  local n = #items
  local counters = {}
  for i = 1, n do counters[i] = 1 end
  visit(items)
  local i = 2
  while i <= n do
    if counters[i] < i then
      local j = i % 2 == 0 and counters[i] or 1
      items[i], items[j] = items[j], items[i]
      visit(items)
      counters[i] = counters[i] + 1
      i = 2
    else
      counters[i] = 1
      i = i + 1
    end
  end
end

local function reverse(items, from, to)
  while from < to do
    items[from], items[to] = items[to], items[from]
    from, to = from + 1, to - 1
  end
end

local function next_permutation(items)
  local n = #items
  local i = n - 1
  while i >= 1 and items[i] >= items[i + 1] do i = i - 1 end
  if i == 0 then return false end
  local j = n
  while items[j] <= items[i] do j = j - 1 end
  items[i], items[j] = items[j], items[i]
  reverse(items, i + 1, n)
  return true
end

local function rotate(items, distance)
  local n = #items
  distance = distance % n
  reverse(items, 1, n)
  reverse(items, 1, distance)
  reverse(items, distance + 1, n)
end

-- sums[i][j] is the sum of the rectangle above and left of (i, j).
local function prefix_sums(grid)
  local rows, columns = #grid, #grid[1]
  local sums = { [0] = {} }
  for j = 0, columns do sums[0][j] = 0 end
  for i = 1, rows do
    local above, line = sums[i - 1], { [0] = 0 }
    for j = 1, columns do
      line[j] = grid[i][j] + above[j] + line[j - 1] - above[j - 1]
    end
    sums[i] = line
  end
  return sums
end

local function best_square(grid, size)
  local sums = prefix_sums(grid)
  local best = 0
  for i = size, #grid do
    for j = size, #grid[1] do
      local total = sums[i][j] - sums[i - size][j] - sums[i][j - size] + sums[i - size][j - size]
      if total > best then best = total end
    end
  end
  return best
end

local function grid_of(n, seed)
  local grid = {}
  for i = 1, n do
    grid[i] = {}
    for j = 1, n do
      seed = (seed * 16807) % 2147483647
      grid[i][j] = seed % 100
    end
  end
  return grid
end

local checksum, fixed_points, ordered, best = 0, 0, 0, 0
for round = 1, ROUNDS do
  heap_permutations({ 1, 2, 3, 4, 5, 6, 7, 8 }, function(p)
    for i = 1, #p do
      if p[i] == i then fixed_points = fixed_points + 1 end
    end
    checksum = (checksum * 31 + p[1] * 8 + p[8]) % 1000003
  end)
  local p = { 1, 2, 3, 4, 5, 6, 7, 8 }
  repeat
    if p[1] < p[8] then ordered = ordered + 1 end
  until not next_permutation(p)
  best = best + best_square(grid_of(120, round), 20)
  local ring = {}
  for i = 1, 1000 do ring[i] = i end
  for i = 1, 100 do rotate(ring, i * 7) end
  checksum = (checksum + ring[1] * ring[1000]) % 1000003
end
print(string.format("permutations %d fixed %d ordered %d best %d",
  checksum, fixed_points, ordered, best))
