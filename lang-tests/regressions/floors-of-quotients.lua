-- `math.floor(x / n)` of an integer and a constant is computed by integers where that makes no
-- difference. Quotients of integers beyond 2^53 are rounded before.
-- expect: ok
--| -1483820325884755255	985755839546441198	-1048889530788079935	-9.2233720368548e+17
--| 683435055697710804
--| -1483820325884755255	985755839546441198	-1048889530788079935	-9.2233720368548e+17
--| 683435055697710804
--| -1483820325884755255	985755839546441198	-1048889530788079935	-9.2233720368548e+17
--| 683435055697710804
--| -1043296300916277836	7737382427888736541	-5461798421107800425	76
--| 23550	-2	3	4611686018427387904	3	false
--| -3.5	-4.0

local floor = math.floor
local edges = { 0, 1, -1, 2, -2, 9, 10, 11, -9, -10, -11, 9999, 10000, -10001 }
for _, power in ipairs({ 31, 32, 52, 53, 54, 55, 62 }) do
  for d = -3, 3 do
    edges[#edges + 1] = (1 << power) + d
    edges[#edges + 1] = -(1 << power) + d
  end
end
for d = 0, 5 do
  edges[#edges + 1] = math.maxinteger - d
  edges[#edges + 1] = math.mininteger + d
end

local function halves(list)
  local sum = 0
  for i = 1, #list do sum = sum * 31 + floor(list[i] / 2) end
  return sum
end
local function thirds(list)
  local sum = 0
  for i = 1, #list do sum = sum * 31 + floor(list[i] / 3) end
  return sum
end
local function tenths(list)
  local sum, last = 0, nil
  for i = 1, #list do
    local q = list[i] / 10.0
    last = q
    q = floor(q)
    sum = sum * 31 + q
  end
  return sum, last
end
local function large(list)
  local sum = 0
  for i = 1, #list do
    sum = sum * 31 + floor(list[i] / 9007199254740992)
    sum = sum * 31 + floor(list[i] / 9007199254740991)
    sum = sum * 31 + floor(list[i] / 4294967297)
  end
  return sum
end
for _ = 1, 3 do
  for _ = 1, 40 do halves(edges) thirds(edges) tenths(edges) large(edges) end
  print(halves(edges), thirds(edges), tenths(edges))
  print(large(edges))
end

-- divisors that are left to floats, and quotients that are no integers
local function others(list)
  local a, b, c, d = 0, 0, 0, 0
  for i = 1, #list do
    local v = list[i]
    a = a * 31 + floor(v / 1)
    b = b * 31 + floor(v / -10)
    c = c * 31 + floor(v / 2.5)
    d = d + math.ceil(v / 10) - floor(v / 10)
  end
  return a, b, c, d
end
for i = #edges, 1, -1 do
  if edges[i] > 1 << 60 or edges[i] < -(1 << 60) then table.remove(edges, i) end
end
for _ = 1, 60 do others(edges) end
print(others(edges))

-- multiplication of long numbers
local function factorial(n)
  local digits = { 1 }
  for i = 2, n do
    local carry = 0
    for k = 1, #digits do
      local v = digits[k] * i + carry
      digits[k] = v % 10000
      carry = math.floor(v / 10000)
    end
    while carry > 0 do
      digits[#digits + 1] = carry % 10000
      carry = math.floor(carry / 10000)
    end
  end
  return digits
end
for _ = 1, 5 do
  local digits = factorial(100)
  assert(#digits == 40 and digits[40] == 93 and digits[39] == 3262)
  assert(math.type(digits[40]) == "integer")
end

-- other values come later, and the function is replaced
local function mean(a, b) return floor((a + b) / 2) end
local sum = 0
for i = 1, 300 do sum = sum + mean(i, 7) end
print(sum, mean(-3, 0), mean(2.5, 4), mean(math.maxinteger, -1), mean("3", 4), (pcall(mean, {}, 1)))
floor = function(v) return -v end
print(mean(3, 4), mean(4, 4))
