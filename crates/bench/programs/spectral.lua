-- covers: floats in arrays, small pure functions
-- The spectral norm of the infinite matrix a(i,j) = 1 / ((i+j)(i+j+1)/2 + i + 1),
-- by power iteration, and the dominant eigenvalue of a random symmetric matrix.

local scale = tonumber(arg and arg[1]) or 1
local SIZE = 300
local ROUNDS = math.max(1, math.floor(20 * scale))

local function a(i, j)
  local ij = i + j
  return 1.0 / (ij * (ij + 1) * 0.5 + i + 1)
end

local function multiply(v, out)
  local n = #v
  for i = 1, n do
    local sum = 0.0
    for j = 1, n do sum = sum + a(i - 1, j - 1) * v[j] end
    out[i] = sum
  end
end

local function multiply_transposed(v, out)
  local n = #v
  for i = 1, n do
    local sum = 0.0
    for j = 1, n do sum = sum + a(j - 1, i - 1) * v[j] end
    out[i] = sum
  end
end

local function spectral_norm(n, rounds)
  local u, v, t = {}, {}, {}
  for i = 1, n do u[i] = 1.0 end
  for _ = 1, rounds do
    multiply(u, t)
    multiply_transposed(t, v)
    multiply(v, t)
    multiply_transposed(t, u)
  end
  local vbv, vv = 0.0, 0.0
  for i = 1, n do
    vbv = vbv + u[i] * v[i]
    vv = vv + v[i] * v[i]
  end
  return math.sqrt(vbv / vv)
end

local function random_symmetric(n)
  local seed = 99
  local m = {}
  for i = 1, n do m[i] = {} end
  for i = 1, n do
    for j = i, n do
      seed = (seed * 16807) % 2147483647
      local x = seed / 2147483647
      m[i][j] = x
      m[j][i] = x
    end
  end
  return m
end

local function normalize(v)
  local sum = 0.0
  for i = 1, #v do sum = sum + v[i] * v[i] end
  local length = math.sqrt(sum)
  for i = 1, #v do v[i] = v[i] / length end
  return length
end

local function dominant_eigenvalue(m, rounds)
  local n = #m
  local v = {}
  for i = 1, n do v[i] = 1.0 / i end
  normalize(v)
  local value = 0.0
  for _ = 1, rounds do
    local w = {}
    for i = 1, n do
      local row, sum = m[i], 0.0
      for j = 1, n do sum = sum + row[j] * v[j] end
      w[i] = sum
    end
    value = normalize(w)
    v = w
  end
  return value
end

print(string.format("spectral %.9f %.6f",
  spectral_norm(SIZE, ROUNDS),
  dominant_eigenvalue(random_symmetric(SIZE), 20 * ROUNDS)))
