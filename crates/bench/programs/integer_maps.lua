-- covers: maps with sparse integer keys, deletion, iteration
-- memory: yes
-- Sparse polynomials, a cache with eviction, and a walk over an unbounded grid,
-- all kept in tables whose integer keys are far apart.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(6 * scale))
local PRIME = 1000003

local seed = 3
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n
end

local function random_polynomial(terms, degree)
  local p = {}
  for _ = 1, terms do p[random(degree)] = random(PRIME - 1) + 1 end
  return p
end

local function multiply(p, q)
  local product = {}
  for i, a in pairs(p) do
    for j, b in pairs(q) do
      product[i + j] = ((product[i + j] or 0) + a * b) % PRIME
    end
  end
  return product
end

local function evaluate(p, power_of)
  local sum, terms = 0, 0
  for exponent, coefficient in pairs(p) do
    sum = (sum + coefficient * power_of(exponent)) % PRIME
    terms = terms + 1
  end
  return sum, terms
end

local function power_mod(base, exponent)
  local result = 1
  while exponent > 0 do
    if exponent % 2 == 1 then result = result * base % PRIME end
    base = base * base % PRIME
    exponent = math.floor(exponent / 2)
  end
  return result
end

-- A first-in first-out cache: `slots` holds the keys in order of arrival.
local function run_cache(requests, capacity)
  local value_of, slots, head, hits = {}, {}, 1, 0
  for _ = 1, requests do
    local key = random(300) * random(300) * 1021
    if value_of[key] then
      hits = hits + 1
      value_of[key] = value_of[key] + 1
    else
      local old = slots[head]
      if old then value_of[old] = nil end
      slots[head] = key
      head = head % capacity + 1
      value_of[key] = 1
    end
  end
  return hits
end

local function ant(steps)
  local black, x, y, dx, dy = {}, 0, 0, 0, 1
  local painted = 0
  for _ = 1, steps do
    local cell = (y + 50000) * 100000 + x + 50000
    if black[cell] then
      black[cell] = nil
      painted = painted - 1
      dx, dy = -dy, dx
    else
      black[cell] = true
      painted = painted + 1
      dx, dy = dy, -dx
    end
    x, y = x + dx, y + dy
  end
  return painted, x, y
end

local checksum, terms_total, hits = 0, 0, 0
for round = 1, ROUNDS do
  local p, q = random_polynomial(160, 100000), random_polynomial(160, 100000)
  local value, terms = evaluate(multiply(p, q), function(e) return power_mod(round + 1, e) end)
  local power_of = function(e) return power_mod(round + 1, e) end
  assert(value == evaluate(p, power_of) * evaluate(q, power_of) % PRIME, "wrong product")
  checksum = (checksum * 7 + value) % PRIME
  terms_total = terms_total + terms
  hits = hits + run_cache(60000, 4000)
end
local painted, x, y = ant(100000 * ROUNDS)
print(string.format("integer_maps %d terms %d hits %d ant %d at %d,%d",
  checksum, terms_total, hits, painted, x, y))
