-- covers: two-dimensional arrays, branches on small integers
-- Conway's life on a torus, and a forest-fire automaton with its own rules.

local scale = tonumber(arg and arg[1]) or 1
local SIZE = 64
local GENERATIONS = math.max(1, math.floor(1700 * scale))

local function new_grid(size, value_at)
  local grid = {}
  for y = 1, size do
    local row = {}
    for x = 1, size do row[x] = value_at(x, y) end
    grid[y] = row
  end
  return grid
end

local function stamp(grid, left, top, pattern)
  for dy, line in ipairs(pattern) do
    for dx = 1, #line do
      grid[top + dy - 1][left + dx - 1] = line:sub(dx, dx) == "#" and 1 or 0
    end
  end
end

local function step(grid, out)
  local size = #grid
  for y = 1, size do
    local above = grid[y > 1 and y - 1 or size]
    local here = grid[y]
    local below = grid[y < size and y + 1 or 1]
    local target = out[y]
    for x = 1, size do
      local l = x > 1 and x - 1 or size
      local r = x < size and x + 1 or 1
      local n = above[l] + above[x] + above[r] + here[l] + here[r] + below[l] + below[x] + below[r]
      if n == 3 or (n == 2 and here[x] == 1) then
        target[x] = 1
      else
        target[x] = 0
      end
    end
  end
  return out, grid
end

local function population(grid)
  local count, checksum = 0, 0
  for y = 1, #grid do
    local row = grid[y]
    for x = 1, #row do
      count = count + row[x]
      checksum = (checksum * 2 + row[x]) % 1000003
    end
  end
  return count, checksum
end

local EMPTY, TREE, FIRE = 0, 1, 2

local function burn(grid, out, random)
  local size, burning = #grid, 0
  for y = 1, size do
    for x = 1, size do
      local cell = grid[y][x]
      local result = cell
      if cell == FIRE then
        result = EMPTY
        burning = burning + 1
      elseif cell == TREE then
        for dy = -1, 1 do
          local row = grid[(y + dy - 1) % size + 1]
          for dx = -1, 1 do
            if row[(x + dx - 1) % size + 1] == FIRE then result = FIRE end
          end
        end
        if random(3000) == 0 then result = FIRE end
      elseif random(20) == 0 then
        result = TREE
      end
      out[y][x] = result
    end
  end
  return burning
end

local function generator(seed)
  return function(n)
    seed = (seed * 16807) % 2147483647
    return seed % n
  end
end

local random = generator(1970)
local grid = new_grid(SIZE, function() return random(4) == 0 and 1 or 0 end)
local spare = new_grid(SIZE, function() return 0 end)
stamp(grid, 3, 3, { "...........", "..#........", "...#.......", ".###.......", "..........." })
stamp(grid, 30, 30, { "......", ".##...", "##....", ".#....", "......" })
for _ = 1, GENERATIONS do grid, spare = step(grid, spare) end
print(string.format("life population %d checksum %d", population(grid)))

local forest = new_grid(SIZE, function() return random(3) == 0 and TREE or EMPTY end)
local other = new_grid(SIZE, function() return EMPTY end)
local burned = 0
for _ = 1, math.max(1, math.floor(GENERATIONS / 4)) do
  burned = burned + burn(forest, other, random)
  forest, other = other, forest
end
print(string.format("forest burned %d trees %d", burned, (population(forest))))
