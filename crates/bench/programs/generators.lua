-- covers: coroutines: generators, pipelines, symmetric tasks
-- Generators over ranges, trees and permutations, filters chained into
-- pipelines, a prime sieve of coroutines, and a round-robin of talking tasks.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(36 * scale))

local yield, wrap = coroutine.yield, coroutine.wrap

local function range(from, to)
  return wrap(function()
    for i = from, to do yield(i) end
  end)
end

local function filter(accept, source)
  return wrap(function()
    for x in source do
      if accept(x) then yield(x) end
    end
  end)
end

local function map(f, source)
  return wrap(function()
    for x in source do yield(f(x)) end
  end)
end

local function primes(count)
  local source = wrap(function()
    local n = 2
    while true do
      yield(n)
      n = n + 1
    end
  end)
  local sum = 0
  for _ = 1, count do
    local p = source()
    sum = sum + p
    source = filter(function(n) return n % p ~= 0 end, source)
  end
  return sum
end

local function insert(node, key)
  if not node then return { key = key } end
  if key < node.key then
    node.left = insert(node.left, key)
  else
    node.right = insert(node.right, key)
  end
  return node
end

local function walk(node)
  if node then
    walk(node.left)
    yield(node.key)
    walk(node.right)
  end
end

local function same_fringe(a, b)
  local left, right = wrap(walk), wrap(walk)
  local x, y = left(a), right(b)
  local count = 0
  while x and x == y do
    count = count + 1
    x, y = left(), right()
  end
  return x == y, count
end

local function permutations(items, n)
  n = n or #items
  if n <= 1 then
    yield(items)
  else
    for i = 1, n do
      items[n], items[i] = items[i], items[n]
      permutations(items, n - 1)
      items[n], items[i] = items[i], items[n]
    end
  end
end

-- Tasks pass tokens around a ring until each has seen `turns` of them.
local function ring(size, turns)
  local tasks, log = {}, 0
  for id = 1, size do
    tasks[id] = coroutine.create(function(token)
      for _ = 1, turns do
        log = (log * 5 + token + id) % 1000003
        token = yield(token + id)
      end
      return token
    end)
  end
  local token, alive = 1, size
  while alive > 0 do
    alive = 0
    for id = 1, size do
      if coroutine.status(tasks[id]) == "suspended" then
        local ok, result = coroutine.resume(tasks[id], token)
        assert(ok, result)
        token = result % 1000
        alive = alive + 1
      end
    end
  end
  return log
end

local total, fringe, permuted, prime_sum, log = 0, 0, 0, 0, 0
for round = 1, ROUNDS do
  local squares = map(function(x) return x * x % 1009 end, range(1, 25000))
  for x in filter(function(x) return x % 3 == round % 3 end, squares) do total = total + x end
  local a, b
  for i = 1, 3000 do
    a = insert(a, i * 7919 % 3001)
    b = insert(b, i * 104729 % 3001)
  end
  local same, count = same_fringe(a, b)
  assert(same)
  fringe = fringe + count
  for p in wrap(function() permutations({ 1, 2, 3, 4, 5, 6, 7 }) end) do
    permuted = (permuted * 3 + p[1] * p[7]) % 1000003
  end
  prime_sum = prime_sum + primes(60)
  log = log + ring(50, 100)
end
print(string.format("generators %d fringe %d permuted %d primes %d ring %d",
  total, fringe, permuted, prime_sum, log))
