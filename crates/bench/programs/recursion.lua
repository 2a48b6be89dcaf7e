-- covers: recursive calls: fib, ackermann, tak, hanoi, mutual recursion
-- Classic recursive functions, a partition count, and mutually recursive
-- functions: the cost of calls and returns.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(28 * scale))

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end

local function tak(x, y, z)
  if y >= x then return z end
  return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
end

local function hanoi(n, from, to, via, pegs)
  if n == 0 then return 0 end
  local moves = hanoi(n - 1, from, via, to, pegs)
  local disc = table.remove(pegs[from])
  assert(disc == n)
  table.insert(pegs[to], disc)
  return moves + 1 + hanoi(n - 1, via, to, from, pegs)
end

local function partitions(n, largest)
  if n == 0 then return 1 end
  local count = 0
  for part = math.min(n, largest), 1, -1 do
    count = count + partitions(n - part, part)
  end
  return count
end

local hofstadter_male
local function hofstadter_female(n)
  if n == 0 then return 1 end
  return n - hofstadter_male(hofstadter_female(n - 1))
end
function hofstadter_male(n)
  if n == 0 then return 0 end
  return n - hofstadter_female(hofstadter_male(n - 1))
end

local function count_down(n, accumulator)
  if n == 0 then return accumulator end
  return count_down(n - 1, (accumulator * 3 + n) % 10007)
end

local result = {}
for round = 1, ROUNDS do
  local pegs = { {}, {}, {} }
  for disc = 13, 1, -1 do table.insert(pegs[1], disc) end
  result = {
    fib(25 + round % 2),
    ackermann(2, 250),
    tak(14, 8, 3),
    hanoi(13, 1, 3, 2, pegs),
    partitions(32, 32),
    hofstadter_female(60) + hofstadter_male(60),
    count_down(200000, round),
  }
end
print(string.format("recursion fib %d ackermann %d tak %d hanoi %d",
  result[1], result[2], result[3],
  result[4]))
print(string.format("partitions %d hofstadter %d down %d", result[5], result[6], result[7]))
