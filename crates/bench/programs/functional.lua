-- covers: closures, higher-order functions, upvalues
-- A small library of map, filter, fold, zip, compose, curry and memoize, used on
-- lists and on lazy streams made of closures.

local scale = tonumber(arg and arg[1]) or 1
local ROUNDS = math.max(1, math.floor(1300 * scale))
local LENGTH = 1000

local function map(f, list)
  local out = {}
  for i = 1, #list do out[i] = f(list[i]) end
  return out
end

local function filter(accept, list)
  local out = {}
  for i = 1, #list do
    local x = list[i]
    if accept(x) then out[#out + 1] = x end
  end
  return out
end

local function fold(f, initial, list)
  local accumulator = initial
  for i = 1, #list do accumulator = f(accumulator, list[i]) end
  return accumulator
end

local function zip_with(f, a, b)
  local out = {}
  for i = 1, math.min(#a, #b) do out[i] = f(a[i], b[i]) end
  return out
end

local function compose(...)
  local functions = { ... }
  return function(x)
    for i = #functions, 1, -1 do x = functions[i](x) end
    return x
  end
end

local function curry(f)
  return function(a)
    return function(b) return f(a, b) end
  end
end

local function memoize(f)
  local known = {}
  return function(n)
    local value = known[n]
    if value == nil then
      value = f(n)
      known[n] = value
    end
    return value
  end
end

local function counter(step)
  local n = 0
  return function()
    n = n + step
    return n
  end
end

-- A stream is a function that returns its next value, or nil at the end.
local function take(n, stream)
  return function()
    if n == 0 then return nil end
    n = n - 1
    return stream()
  end
end

local function stream_filter(accept, stream)
  return function()
    local x = stream()
    while x ~= nil and not accept(x) do x = stream() end
    return x
  end
end

local function stream_sum(stream)
  local sum = 0
  for x in stream do sum = sum + x end
  return sum
end

local add = curry(function(a, b) return a + b end)
local scale_by = curry(function(a, b) return a * b end)
local modulo = function(m) return function(x) return x % m end end
local divisible = function(d) return function(x) return x % d == 0 end end
local plus = function(a, b) return a + b end

local numbers = {}
for i = 1, LENGTH do numbers[i] = i end

local steps
steps = memoize(function(n)
  if n <= 1 then return 1 end
  return (steps(n - 1) + steps(n - 2)) % 1000003
end)

local total = 0
for round = 1, ROUNDS do
  local pipeline = compose(modulo(1009), add(round), scale_by(3), add(7))
  local mapped = map(pipeline, numbers)
  local even = filter(divisible(2), mapped)
  local pairs_of = zip_with(function(a, b) return a * b % 97 end, mapped, even)
  total = total + fold(plus, 0, pairs_of) + fold(math.max, 0, even)
  total = total + stream_sum(take(200, stream_filter(divisible(round % 5 + 2), counter(round))))
  local adders = map(add, numbers)
  total = total + fold(function(sum, adder) return adder(sum) % 10007 end, 0, adders)
  total = (total + steps(round % 150)) % 1000000007
end
print(string.format("functional %d", total))
