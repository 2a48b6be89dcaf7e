-- covers: backtracking over boolean arrays, recursion with tables
-- Counts the solutions of the n-queens problem, finds the first one on larger
-- boards, tours a board with a knight, and packs subsets to a sum.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(11 * scale))

local function count_queens(n)
  local columns, rising, falling = {}, {}, {}
  local function place(row)
    if row > n then return 1 end
    local count = 0
    for column = 1, n do
      local up, down = row + column, row - column + n
      if not columns[column] and not rising[up] and not falling[down] then
        columns[column], rising[up], falling[down] = true, true, true
        count = count + place(row + 1)
        columns[column], rising[up], falling[down] = false, false, false
      end
    end
    return count
  end
  return place(1)
end

local function safe(board, row, column)
  for other = 1, row - 1 do
    local c = board[other]
    if c == column or c - other == column - row or c + other == column + row then return false end
  end
  return true
end

local function first_queens(n)
  local board = {}
  local function place(row)
    if row > n then return true end
    for column = 1, n do
      if safe(board, row, column) then
        board[row] = column
        if place(row + 1) then return true end
      end
    end
    return false
  end
  assert(place(1))
  return board
end

local MOVES = {
  { 1, 2 }, { 2, 1 }, { 2, -1 }, { 1, -2 }, { -1, -2 }, { -2, -1 }, { -2, 1 }, { -1, 2 },
}

-- Warnsdorff's rule: go to the square with the fewest ways on.
local function knight_tour(size)
  local visited = {}
  for x = 1, size do visited[x] = {} end
  local function free(x, y)
    return x >= 1 and x <= size and y >= 1 and y <= size and not visited[x][y]
  end
  local function ways(x, y)
    local n = 0
    for _, move in ipairs(MOVES) do
      if free(x + move[1], y + move[2]) then n = n + 1 end
    end
    return n
  end
  local x, y, steps = 1, 1, 1
  visited[1][1] = true
  while true do
    local best_x, best_y, best = nil, nil, 9
    for _, move in ipairs(MOVES) do
      local nx, ny = x + move[1], y + move[2]
      if free(nx, ny) then
        local n = ways(nx, ny)
        if n < best then best_x, best_y, best = nx, ny, n end
      end
    end
    if not best_x then return steps end
    x, y, steps = best_x, best_y, steps + 1
    visited[x][y] = true
  end
end

local function subset_sums(items, target)
  local function pick(from, left)
    if left == 0 then return 1 end
    local count = 0
    for i = from, #items do
      if items[i] > left then break end
      count = count + pick(i + 1, left - items[i])
    end
    return count
  end
  return pick(1, target)
end

local solutions, checksum, steps, sums = 0, 0, 0, 0
local items = {}
for i = 1, 26 do items[i] = 2 * i + i % 3 end
for round = 1, ROUNDS do
  solutions = solutions + count_queens(8)
  for i, column in ipairs(first_queens(18 + round % 2)) do
    checksum = (checksum * 7 + i * column) % 1000003
  end
  steps = steps + knight_tour(28 + round)
  sums = sums + subset_sums(items, 100 + round)
end
print(string.format("queens %d checksum %d knight %d subsets %d", solutions, checksum, steps, sums))
