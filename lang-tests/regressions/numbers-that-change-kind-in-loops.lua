-- expect: ok
--| 43503.0	11	5991
--| 19320.5	1002	1999
--| 9950.5	5997	5
--| 7878.0	2627	3375
-- Loops whose first iteration leaves a variable with an integer, and others with a float or the
-- other way around: the variable has to keep the kind that it has after each number of iterations.
local function digits(n)
  local sum = 0
  while n > 0 do
    local digit = n % 10
    sum = sum + digit
    n = (n - digit) / 10
  end
  return sum, n
end

local kinds = {}
local function note(v) kinds[math.type(v)] = (kinds[math.type(v)] or 0) + 1 return v end
local total = 0
for n = 0, 3000 do
  local sum, rest = digits(n)
  total = total + note(sum) + note(rest)
end
print(total, kinds.integer, kinds.float)

-- The same with a variable that closures share.
local shared = 0
local function add(x) shared = shared + x end
local function halves(n)
  shared = 0
  while n > 1 do
    add(n)
    n = n / 2
  end
  return shared
end
kinds, total = {}, 0
for n = 0, 3000 do total = total + note(halves(n % 9)) end
print(total, kinds.integer, kinds.float)

-- From floats to integers.
local function floors(n)
  local count, last = 0.5, n
  while last > 2 do
    last = last // 2 | 0
    count = last
  end
  return count, last
end
kinds, total = {}, 0
for n = 0, 3000 do
  local count, last = floors(n % 2 == 0 and n + 0.0 or n)
  total = total + note(count) + note(last)
end
print(total, kinds.integer, kinds.float)

-- Two variables that depend on each other, in a loop that is inlined in a loop.
local function pair(n)
  local a, b = 1, 1
  for i = 1, n do
    a, b = b, a / 2 + i % 2
    if i % 3 == 0 then b = b // 1 | 0 end
  end
  return a, b
end
kinds, total = {}, 0
for n = 0, 3000 do
  local a, b = pair(n % 8)
  total = total + note(a) * 2 + note(b)
end
print(total, kinds.integer, kinds.float)
