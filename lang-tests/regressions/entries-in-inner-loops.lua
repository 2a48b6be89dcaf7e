-- Loops within loops that become hot in an inner one, which machine code enters there: sums, tests
-- at the beginning and the end, iterators, exits out of several loops, closures (3.3.4, 3.3.5).
-- expect: ok
--| 1	22576.0	38871	45150	8999900	76523	5603.5	900	end
--| 40202
--| 3	67728.0	116613	135450	26999700	229569	18310.5	2700	end
--| 120612
--| 60	1354560.0	2332260	2709000	539994000	4591380	1221210.0	54000	end
--| 2415660
--| 3215424

local function numeric(n)
  local total, out = 0.0, {}
  for i = 1, n do
    local sum = 0.0
    for j = 1, 300 do sum = sum + j * 0.5 end
    out[i] = sum
    total = total + sum
  end
  return total + #out
end
local function whiles(n)
  local i, s = 0, 0
  while i < n do
    local j = 0
    while j < 300 do
      j = j + 1
      if j % 7 == 0 then s = s + 1 else s = s + j end
    end
    i = i + 1
  end
  return s
end
local function repeats(n)
  local i, s = 0, 0
  repeat
    local j = 0
    repeat j = j + 1; s = s + j until j >= 300
    i = i + 1
  until i >= n
  return s
end
local function generic(n)
  local t, s = {}, 0
  for i = 1, 300 do t[i] = i end
  for i = 1, n do
    for k, v in ipairs(t) do s = s + k * v end
    for k, v in pairs(t) do s = s - v end
  end
  return s
end
local function breaks(n)
  local s = 0
  for i = 1, n do
    for j = 1, 300 do
      if j > 250 then s = s + string.len("x" .. j) break end
      s = s + j
    end
    for j = 300, 1, -1 do
      if j == 3 then goto continue end
      s = s + j
    end
    s = s + 1000000
    ::continue::
  end
  return s
end
local function deep(n)
  local s = 0
  for a = 1, n do
    for b = 1, 4 do
      for c = 1, 50 do
        s = s + a * b + c
        if s > 1e9 then s = s - 1e9 end
      end
      s = s + (b == 2 and 0.5 or 1)
    end
  end
  return s
end
local function returns(n)
  for i = 1, n do
    for j = 1, 1000 do
      if i == n and j == 900 then return i * j, "end" end
    end
  end
end
local function closures(n)
  local fs, s = {}, 0
  for i = 1, n do
    local x = i
    for j = 1, 200 do x = x + j; fs[j] = function() return x end end
    s = s + fs[7]() + fs[200]()
  end
  return s
end
for _, n in ipairs { 1, 3, 60 } do
  print(n, numeric(n), whiles(n), repeats(n), generic(n), breaks(n), deep(n), returns(n))
  print(closures(n))
end
local s = 0
for i = 1, 40 do
  local row = {}
  for j = 1, 400 do row[j] = i ~ j end
  local k = 1
  while row[k] do s = s + row[k]; k = k + 1 end
  for _, v in ipairs(row) do s = s ~ v end
end
print(s)
