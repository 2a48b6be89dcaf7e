-- covers: integers, branches
-- Collatz chains with a cache of known lengths, digit sums, perfect numbers by
-- divisor sums and Euclid's algorithm: plain integer arithmetic throughout.

local scale = tonumber(arg and arg[1]) or 1
local LIMIT = math.max(10, math.floor(420000 * scale))

local function longest_chain(limit)
  local length = { 1 }
  local best, best_start = 1, 1
  for start = 2, limit do
    local n, steps = start, 0
    while n >= start do
      if n % 2 == 0 then
        n = math.floor(n / 2)
      else
        n = 3 * n + 1
      end
      steps = steps + 1
    end
    local total = steps + length[n]
    length[start] = total
    if total > best then best, best_start = total, start end
  end
  return best_start, best
end

local function digit_sum(n)
  local sum = 0
  while n > 0 do
    local digit = n % 10
    sum = sum + digit
    n = (n - digit) / 10
  end
  return sum
end

local function harshad_count(limit)
  local count = 0
  for n = 1, limit do
    if n % digit_sum(n) == 0 then count = count + 1 end
  end
  return count
end

local function divisor_sums(limit)
  local sums = {}
  for n = 1, limit do sums[n] = 0 end
  for divisor = 1, limit do
    for multiple = 2 * divisor, limit, divisor do
      sums[multiple] = sums[multiple] + divisor
    end
  end
  return sums
end

local function classify(limit)
  local sums = divisor_sums(limit)
  local perfect, amicable, abundant = 0, 0, 0
  for n = 2, limit do
    local s = sums[n]
    if s == n then
      perfect = perfect + 1
    elseif s > n then
      abundant = abundant + 1
      if s <= limit and sums[s] == n then amicable = amicable + 1 end
    end
  end
  return perfect, amicable, abundant
end

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

local function coprime_pairs(limit)
  local count = 0
  for a = 1, limit do
    for b = 1, a do
      if gcd(a, b) == 1 then count = count + 1 end
    end
  end
  return count
end

print(string.format("collatz longest %d length %d", longest_chain(2 * LIMIT)))
print(string.format("harshad %d", harshad_count(LIMIT)))
print(string.format("perfect %d amicable %d abundant %d", classify(LIMIT)))
print(string.format("coprime %d", coprime_pairs(math.floor(math.sqrt(2 * LIMIT)))))
