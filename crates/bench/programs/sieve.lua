-- covers: integers, arrays of booleans
-- A segmented sieve of Eratosthenes with counts of twin primes and of the last
-- digits, checked against an odds-only sieve of the same range.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(12 * scale))
local LIMIT = 1000000
local SEGMENT = 8192

local function simple_sieve(limit)
  local composite, primes = {}, {}
  for i = 2, limit do composite[i] = false end
  for i = 2, limit do
    if not composite[i] then
      primes[#primes + 1] = i
      for j = i * i, limit, i do composite[j] = true end
    end
  end
  return primes
end

local function segmented_sieve(limit, visit)
  local root = math.floor(math.sqrt(limit)) + 1
  local base = simple_sieve(root)
  local flags = {}
  for low = 2, limit, SEGMENT do
    local high = math.min(low + SEGMENT - 1, limit)
    for i = 1, high - low + 1 do flags[i] = true end
    for _, p in ipairs(base) do
      local square = p * p
      if square > high then break end
      local first = low + (p - low % p) % p
      if first < square then first = square end
      for multiple = first, high, p do flags[multiple - low + 1] = false end
    end
    for i = 1, high - low + 1 do
      if flags[i] then visit(low + i - 1) end
    end
  end
end

local function odds_only_count(limit)
  local half = math.floor((limit - 1) / 2)
  local is_prime = {}
  for i = 1, half do is_prime[i] = true end
  local count = 1
  for i = 1, half do
    if is_prime[i] then
      count = count + 1
      local p = 2 * i + 1
      for j = (p * p - 1) / 2, half, p do is_prime[j] = false end
    end
  end
  return count
end

local count, twins, sum = 0, 0, 0
local digits = { [1] = 0, [2] = 0, [3] = 0, [5] = 0, [7] = 0, [9] = 0 }
for round = 1, ROUNDS do
  local limit, found, previous = LIMIT - 1000 * round, 0, 0
  segmented_sieve(limit, function(p)
    found = found + 1
    if p - previous == 2 then twins = twins + 1 end
    previous = p
    digits[p % 10] = digits[p % 10] + 1
    sum = (sum + p) % 1000000007
  end)
  assert(found == odds_only_count(limit), "the two sieves disagree")
  count = count + found
end
print(string.format("sieve primes %d twins %d sum %d", count, twins, sum))
print(string.format("digits %d %d %d %d", digits[1], digits[3], digits[7], digits[9]))
