-- The first float that is stored to an array of integers makes it one of any values. Code does
-- this in place in front of a loop, and exits in the loop where it relies on the kind.
-- expect: ok

-- one array, whose first store comes in the first iteration
local function scale(t, by)
  for i = 1, #t do t[i] = t[i] * by + 0.5 end
end
for _ = 1, 600 do
  local t = { 1, 2, 3, 4, 5, 6, 7, 8 }
  scale(t, 2)
  assert(t[1] == 2.5 and t[8] == 16.5)
  scale(t, 1)
  assert(t[1] == 3.0 and t[8] == 17.0)
end

-- another array in each iteration
local function column(rows, j, v)
  for i = 1, #rows do rows[i][j] = v end
end
for round = 1, 300 do
  local rows = {}
  for i = 1, 6 do rows[i] = { i, i, i } end
  column(rows, 2, 0.25)
  column(rows, 3, 0.75)
  for i = 1, 6 do
    assert(math.type(rows[i][1]) == "integer" and rows[i][2] == 0.25 and rows[i][3] == 0.75)
  end
end

-- integers among floats, and stores after the last element
local function mixed(t, n)
  for i = 1, n do
    if i % 3 == 0 then t[i] = i else t[i] = i / 2 end
  end
  return t
end
for _ = 1, 300 do
  local t = mixed({}, 20)
  assert(#t == 20 and t[1] == 0.5 and math.type(t[3]) == "integer" and t[20] == 10.0)
  t = mixed({ 7, 7, 7, 7 }, 9)
  assert(#t == 9 and t[2] == 1.0 and math.type(t[2]) == "float" and math.type(t[9]) == "integer")
end

-- a loop that stores to the array that it reads, under two names
local function smooth(a, b, n)
  local s = 0
  for i = 2, n - 1 do
    a[i] = (b[i - 1] + b[i + 1]) / 2
    s = s + b[i]
  end
  return s
end
for _ = 1, 300 do
  local t = {}
  for i = 1, 16 do t[i] = i end
  assert(smooth(t, t, 16) == 119.0)
  local u = {}
  for i = 1, 16 do u[i] = 2 * i end
  assert(smooth(t, u, 16) == 238 and math.type(u[5]) == "integer" and t[5] == 10.0)
end

-- where a metamethod, or the hash part, may have a say
local function fill(t, from, to, v)
  for i = from, to do t[i] = v end
end
for _ = 1, 300 do
  local calls = 0
  local t = setmetatable({ 1, 2, 3, 4 }, {
    __newindex = function(t, k, v)
      calls = calls + 1
      rawset(t, k, v)
    end,
  })
  fill(t, 1, 6, 0.5)
  assert(calls == 2 and t[1] == 0.5 and t[6] == 0.5)
  t = { 1, 2, 3, [6] = 6 }
  fill(t, 2, 6, 1.5)
  assert(t[1] == 1 and t[2] == 1.5 and t[5] == 1.5 and t[6] == 1.5)
  t = { 1, 2, 3 }
  fill(t, 3, 3, 2.0)
  fill(t, 5, 6, 2.0)
  assert(t[4] == nil and math.type(t[3]) == "float" and t[6] == 2.0)
end

-- sums of unknown kind, in arrays that become mixed
local function relax(row, by, other)
  for j = 1, #row do
    local v = by + other[j]
    if v < row[j] then row[j] = v end
  end
end
for round = 1, 300 do
  local row, other = { 9, 9, 9, 9 }, { 1, 2, 0.5, 4 }
  relax(row, 1, other)
  assert(row[1] == 2 and math.type(row[1]) == "integer" and row[3] == 1.5 and row[4] == 5)
  row = { 9.0, 9.0, 9.0, math.huge }
  relax(row, 1, other)
  assert(math.type(row[1]) == "integer" and math.type(row[3]) == "float" and row[4] == 5)
  row = { math.huge, 1, math.huge, 2 }
  relax(row, round % 2 == 0 and 1 or 0.25, { 3, 3, 3, 3 })
  assert(row[1] == (round % 2 == 0 and 4 or 3.25) and row[2] == 1 and row[3] == row[1])
  row = { 9, 9 }
  assert(not pcall(relax, row, 1, { 3 }) and row[1] == 4 and row[2] == 9)
  row = setmetatable({ 9, nil, 9 }, { __newindex = function() error("refused") end })
  assert(not pcall(relax, row, 1, { 1, 1, 1 }) and row[1] == 2 and rawget(row, 2) == nil)
end
