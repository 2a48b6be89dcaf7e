-- Elements that are tables stay known in loops that store to other tables. The matrix may be a row
-- of itself, a row may be replaced in the loop, and rows may be inherited or die.
-- expect: ok

local function matrix(n, f)
  local m = {}
  for i = 1, n do
    m[i] = {}
    for j = 1, n do m[i][j] = f(i, j) end
  end
  return m
end

local function add(m, i, n)
  local sum = 0
  for j = 1, n do
    m[i][j] = m[i - 1][j] + m[i][j]
    sum = sum + m[i][j]
  end
  return sum
end

local function transpose_into(m, r, n)
  for i = 1, n do
    for j = 1, n do r[j][i] = m[i][j] end
  end
end

for round = 1, 40 do
  local m = matrix(8, function(i, j) return i * 10 + j end)
  local total = 0
  for i = 2, 8 do total = total + add(m, i, 8) end
  assert(total == 10780)
  local r = matrix(8, function() return "" end)
  transpose_into(m, r, 8)
  assert(r[3][5] == m[5][3] and r[8][1] == m[1][8])
end

-- a matrix that is a row of itself
local own = matrix(8, function(i, j) return i + j end)
own[5] = own
local ok, message = pcall(add, own, 5, 8)
assert(not ok and message:find("arithmetic on a table value"), message)
local both = matrix(6, function(i, j) return {} end)
for i = 1, 6 do for j = 1, 6 do both[i][j] = both[j] end end
both[4] = both
transpose_into(both, both, 6)

local function replace(m, n, k, by)
  local seen = {}
  for j = 1, n do
    local row = m[k]
    row[j] = j
    if j == n // 2 then m[k] = by end
    seen[j] = m[k]
    m[k][j] = -j
  end
  return seen
end

for round = 1, 60 do
  local m, by = matrix(6, function() return 0 end), {}
  local first = m[3]
  local seen = replace(m, 6, 3, by)
  assert(seen[2] == first and seen[3] == by and seen[6] == by)
  assert(first[3] == 3 and first[4] == 0 and by[3] == -3 and by[6] == -6)
end

-- a row that is stored through another name of the matrix
local function alias(m, other, k, n, by)
  local sum = 0
  for j = 1, n do
    sum = sum + m[k][j]
    other[k + (j % 2)] = by
    sum = sum + m[k][j]
  end
  return sum
end

for round = 1, 60 do
  local m = matrix(5, function() return 1 end)
  local by = { 10, 10, 10, 10, 10 }
  assert(alias(m, matrix(5, function() return 1 end), 2, 5, by) == 10)
  assert(alias(m, m, 2, 5, by) == 73)
end

-- the same after the code is compiled
local function late_alias(m, other, k, n, by)
  local sum = 0
  for j = 1, n do
    sum = sum + m[k][j]
    other[k] = by
    sum = sum + m[k][j]
  end
  return sum
end

for round = 1, 60 do
  local m, other = matrix(5, function() return 1 end), matrix(5, function() return 1 end)
  assert(late_alias(m, other, 2, 5, { 10, 10, 10, 10, 10 }) == 10)
end
local m = matrix(5, function() return 1 end)
assert(late_alias(m, m, 2, 5, { 10, 10, 10, 10, 10 }) == 1 + 90)

-- a loop that meets the matrix itself late
local function turns(m, others, k, n, by)
  local sum = 0
  for j = 1, n do
    sum = sum + m[k][1]
    others[j][k] = by
    sum = sum + m[k][1]
  end
  return sum
end

for round = 1, 4 do
  local m, others = matrix(3, function() return 1 end), {}
  for i = 1, 50 do others[i] = matrix(3, function() return 1 end) end
  others[48] = m
  assert(turns(m, others, 2, 50, { 10 }) == 2 * 47 + 11 + 2 * 20)
end

-- keys that are sums
local function sums(m, k, n)
  local sum = 0
  for j = 1, n do
    m[k + 1][j] = m[k - 1 + 1][j] + m[k + 2 - 1][j]
    sum = sum + m[k + 1][j] + m[1 + k][j]
    if j == 3 then m[k + 1], m[k] = m[k], m[k + 1] end
  end
  return sum
end

for round = 1, 60 do
  local m = matrix(4, function(i, j) return i end)
  assert(sums(m, 2, 4) == 40)
end

-- inherited rows, and metatables that the array gets in the loop
local function inherited(m, base, k, n)
  local sum = 0
  for j = 1, n do
    sum = sum + m[k][j]
    base[k] = { j, j, j, j }
    sum = sum + m[k][j] + base[k][j]
  end
  return sum
end

for round = 1, 60 do
  local base = { {}, { 1, 1, 1, 1 } }
  local m = setmetatable({ [0] = {} }, { __index = base })
  assert(inherited(m, base, 2, 4) == 27)
  assert(inherited({ {}, { 5, 5, 5, 5 } }, base, 2, 4) == 50)
end

local function with_metatable(m, k, n, meta)
  local sum = 0
  for j = 1, n do
    sum = sum + m[k][j]
    if j == 2 then m[k] = nil setmetatable(m, meta) end
  end
  return sum
end

for round = 1, 60 do
  local meta = { __index = { [0] = 0, {}, {}, { 7, 7, 7, 7 } } }
  assert(with_metatable({ {}, {}, { 1, 1, 1, 1 } }, 3, 4, meta) == 16)
end

-- rows of weak arrays, which may die at a poll
local weak = setmetatable({}, { __mode = "v" })
local function of_weak(n)
  local found, gone = 0, 0
  for j = 1, n do
    local row = weak[2]
    if row then
      row[1] = j
      found = found + weak[2][1]
    else
      gone = gone + 1
      weak[1], weak[2] = {}, {}
    end
    row = nil
  end
  return found, gone
end
for round = 1, 30 do
  of_weak(200)
  if round % 10 == 0 then collectgarbage() end
end

-- functions of the library, and calls
local function by_library(m, n)
  local sum = 0
  for j = 1, n do
    sum = sum + m[1][1]
    table.insert(m, 1, { j })
    sum = sum + m[1][1]
    table.remove(m, 1)
    m[1][1] = m[1][1] + 1
  end
  return sum
end

for round = 1, 60 do
  assert(by_library({ { 1 }, { 2 } }, 6) == 21 + 21)
end

local function store(t, k, v) t[k] = v end
local function by_call(m, n)
  local sum = 0
  for j = 1, n do
    sum = sum + m[2][1]
    store(m, 2, { j })
    sum = sum + m[2][1]
    store(m[2], 1, j + 1)
    sum = sum + m[2][1]
  end
  return sum
end

for round = 1, 60 do
  assert(by_call({ {}, { 0 } }, 4) == 0 + 1 + 2 + 2 + 2 + 3 + 3 + 3 + 4 + 4 + 4 + 5)
end
