-- covers: arrays of arrays, numeric loops
-- Matrix product, LU decomposition with partial pivoting (determinant and linear
-- solve), and integer matrix powers modulo a prime.

local scale = tonumber(arg and arg[1]) or 1
local SIZE = 90
local ROUNDS = math.max(1, math.floor(50 * scale))

local seed = 31337
local function random()
  seed = (seed * 16807) % 2147483647
  return seed / 2147483647 - 0.5
end

local function random_matrix(n)
  local m = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do row[j] = random() end
    m[i] = row
  end
  return m
end

local function transpose(m)
  local n, t = #m, {}
  for i = 1, n do
    local row = {}
    for j = 1, n do row[j] = m[j][i] end
    t[i] = row
  end
  return t
end

local function multiply(a, b)
  local n, bt, c = #a, transpose(b), {}
  for i = 1, n do
    local row, ai = {}, a[i]
    for j = 1, n do
      local sum, bj = 0.0, bt[j]
      for k = 1, n do sum = sum + ai[k] * bj[k] end
      row[j] = sum
    end
    c[i] = row
  end
  return c
end

-- Solves m x = b in place and returns x and the determinant of m.
local function solve(m, b)
  local n, determinant = #m, 1.0
  for column = 1, n do
    local pivot = column
    for row = column + 1, n do
      if math.abs(m[row][column]) > math.abs(m[pivot][column]) then pivot = row end
    end
    if pivot ~= column then
      m[pivot], m[column] = m[column], m[pivot]
      b[pivot], b[column] = b[column], b[pivot]
      determinant = -determinant
    end
    local top = m[column]
    determinant = determinant * top[column]
    for row = column + 1, n do
      local current = m[row]
      local factor = current[column] / top[column]
      for k = column, n do current[k] = current[k] - factor * top[k] end
      b[row] = b[row] - factor * b[column]
    end
  end
  local x = {}
  for row = n, 1, -1 do
    local sum = b[row]
    for k = row + 1, n do sum = sum - m[row][k] * x[k] end
    x[row] = sum / m[row][row]
  end
  return x, determinant
end

local function power_mod(m, exponent, modulus)
  local n, result = #m, {}
  for i = 1, n do
    result[i] = {}
    for j = 1, n do result[i][j] = i == j and 1 or 0 end
  end
  local function product(a, b)
    local c = {}
    for i = 1, n do
      local row = {}
      for j = 1, n do
        local sum = 0
        for k = 1, n do sum = (sum + a[i][k] * b[k][j]) % modulus end
        row[j] = sum
      end
      c[i] = row
    end
    return c
  end
  while exponent > 0 do
    if exponent % 2 == 1 then result = product(result, m) end
    m = product(m, m)
    exponent = math.floor(exponent / 2)
  end
  return result
end

local trace, solution, scaled = 0.0, 0.0, 0.0
for _ = 1, ROUNDS do
  local c = multiply(random_matrix(SIZE), random_matrix(SIZE))
  for i = 1, SIZE do trace = trace + c[i][i] end
  local b = {}
  for i = 1, SIZE do b[i] = i / SIZE end
  local m = random_matrix(SIZE)
  for i = 1, SIZE do m[i][i] = m[i][i] + 4.0 end
  local x, determinant = solve(m, b)
  for i = 1, SIZE do solution = solution + x[i] end
  scaled = scaled + math.log(math.abs(determinant))
end
local steps = power_mod({
  { 1, 1, 0, 2 }, { 1, 0, 3, 0 }, { 0, 1, 1, 1 }, { 2, 0, 0, 1 },
}, 1000003, 16777213)
print(string.format("matrix trace %.6f solution %.6f log %.6f", trace, solution, scaled))
print(string.format("power %d %d", steps[1][1], steps[4][2]))
