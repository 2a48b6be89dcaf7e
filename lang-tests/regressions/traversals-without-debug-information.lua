-- covers: loops by next in functions without debug information
-- expect: ok
--| 36	3600	108000
--| 36	28.0	54.0
--| 3	6	10
local function stripped(f)
  local g = load(string.dump(f, true), "=stripped", "b")
  debug.setupvalue(g, 1, _ENV)
  return g
end
local sum = stripped(function(t, n)
  local s = 0
  for round = 1, n do
    for _, v in pairs(t) do s = s + v end
  end
  return s
end)
local t = { a = 1, b = 2, c = 3, 10, 20 }
print(sum(t, 1), sum(t, 100), sum(t, 3000))
-- loops in loops, values of other types, and fields that are removed
local mixed = stripped(function(t, n)
  local s
  for round = 1, n do
    s = 0
    for k, v in pairs(t) do
      for _, w in next, v do s = s + w end
      if round == n and k == "last" then t[k] = nil end
    end
  end
  return s
end)
local u = { { 1, x = 2 }, { 3, y = 4 }, last = { 5, 6, z = 7 }, other = { w = 8 } }
local before = mixed(u, 50)
u[3] = { 9, v = 8.5, u = 18.5 }
print(before, mixed(u, 60) - 26, mixed(u, 50))
local count = stripped(function(t, n)
  local c = 0
  for round = 1, n do
    c = 0
    for k, v in pairs(t) do
      if v then c = c + k end
    end
  end
  return c
end)
print(count({ 1, 2 }, 60), count({ 1, "s", {} }, 60), count({ 1, 2.5, true, 4 }, 60))
