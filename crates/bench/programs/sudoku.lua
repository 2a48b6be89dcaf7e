-- covers: constraint propagation, sets, backtracking with copies
-- Solves sudoku grids by keeping candidate sets for every cell, propagating
-- singles and hidden singles, and searching from the cell with fewest candidates.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(65 * scale))

local PUZZLES = {
  "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..",
  "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......",
  "..53.....8......2..7..1.5..4....53...1..7...6..32...8..6.5....9..4....3......97..",
}

-- peers[cell] lists the 20 cells that share a unit; units lists all 27 units.
local peers, units, units_of = {}, {}, {}

local function add_unit(cells)
  units[#units + 1] = cells
  for _, cell in ipairs(cells) do
    units_of[cell] = units_of[cell] or {}
    table.insert(units_of[cell], cells)
  end
end

local function build_units()
  for i = 0, 8 do
    local row, column, box = {}, {}, {}
    for j = 0, 8 do
      row[j + 1] = i * 9 + j + 1
      column[j + 1] = j * 9 + i + 1
      local top, left = math.floor(i / 3) * 3, i % 3 * 3
      box[j + 1] = (top + math.floor(j / 3)) * 9 + left + j % 3 + 1
    end
    add_unit(row)
    add_unit(column)
    add_unit(box)
  end
  for cell = 1, 81 do
    local seen, list = { [cell] = true }, {}
    for _, unit in ipairs(units_of[cell]) do
      for _, other in ipairs(unit) do
        if not seen[other] then
          seen[other] = true
          list[#list + 1] = other
        end
      end
    end
    peers[cell] = list
  end
end

-- A grid maps each cell to a set of candidates with its size.
local function full_set()
  local set = { size = 9 }
  for digit = 1, 9 do set[digit] = true end
  return set
end

local function copy_grid(grid)
  local copy = {}
  for cell = 1, 81 do
    local set, fresh = grid[cell], {}
    for digit = 1, 9 do fresh[digit] = set[digit] end
    fresh.size = set.size
    copy[cell] = fresh
  end
  return copy
end

local function only_digit(set)
  for digit = 1, 9 do
    if set[digit] then return digit end
  end
end

local assign
local eliminations = 0

local function eliminate(grid, cell, digit)
  local set = grid[cell]
  if not set[digit] then return true end
  eliminations = eliminations + 1
  set[digit] = false
  set.size = set.size - 1
  if set.size == 0 then return false end
  if set.size == 1 then
    local last = only_digit(set)
    for _, peer in ipairs(peers[cell]) do
      if not eliminate(grid, peer, last) then return false end
    end
  end
  for _, unit in ipairs(units_of[cell]) do
    local place, count = nil, 0
    for _, other in ipairs(unit) do
      if grid[other][digit] then
        place, count = other, count + 1
      end
    end
    if count == 0 then return false end
    if count == 1 and grid[place].size > 1 and not assign(grid, place, digit) then return false end
  end
  return true
end

function assign(grid, cell, digit)
  for other = 1, 9 do
    if other ~= digit and not eliminate(grid, cell, other) then return false end
  end
  return true
end

local function parse(text)
  local grid = {}
  for cell = 1, 81 do grid[cell] = full_set() end
  for cell = 1, 81 do
    local digit = tonumber(text:sub(cell, cell))
    if digit and not assign(grid, cell, digit) then return nil end
  end
  return grid
end

local guesses = 0
local function search(grid)
  local best
  for cell = 1, 81 do
    local size = grid[cell].size
    if size > 1 and (not best or size < grid[best].size) then best = cell end
  end
  if not best then return grid end
  for digit = 1, 9 do
    if grid[best][digit] then
      guesses = guesses + 1
      local attempt = copy_grid(grid)
      if assign(attempt, best, digit) then
        local solved = search(attempt)
        if solved then return solved end
      end
    end
  end
  return nil
end

build_units()
local checksum = 0
for _ = 1, ROUNDS do
  for _, puzzle in ipairs(PUZZLES) do
    local solved = assert(search(assert(parse(puzzle))), "no solution")
    for cell = 1, 81 do
      checksum = (checksum * 11 + only_digit(solved[cell])) % 1000003
    end
  end
end
print(string.format("sudoku %d guesses %d eliminations %d", checksum, guesses, eliminations))
