-- expect: ok
--| 1 1; 3 6; 4 10; 5 15; 8 36; 9 45; 16 136; 17 153; 100 5050; 
--| 0	10	110
--| 10	8
--| true	2
--| 45
--| 2610
--| 1	nil
--| 1	40
-- Dictionaries get more nodes: keys of all kinds keep their values, also if some were
-- removed, and if the program adds them by code that found a free node before.
local function fill(n, name)
  local t = {}
  for i = 1, n do
    local k = name .. i
    t[k] = (t[k] or 0) + i
  end
  return t
end
local function total(t)
  local c, s = 0, 0
  for _, v in pairs(t) do c, s = c + 1, s + v end
  return c, s
end
for n = 0, 40 do fill(n, "k") end
for _, n in ipairs({ 1, 3, 4, 5, 8, 9, 16, 17, 100 }) do
  io.write(table.concat({ total(fill(n, "x")) }, " "), "; ")
end
print()

-- a traversal visits each key once, and may change values
local t, seen, twice = {}, {}, 0
for i = 1, 20 do t["n" .. i * 7 % 20] = i end
for k, v in pairs(t) do
  if seen[k] then twice = twice + 1 end
  seen[k] = true
  t[k] = v % 2 == 0 and v or nil
end
print(twice, total(t))

-- other kinds of keys
local f, co, u = print, coroutine.create(print), {}
local keys = { 1.5, true, false, f, co, u, "s", ("long"):rep(20), -0.25, 2 ^ 60 }
local m = {}
for n, k in ipairs(keys) do m[k] = n end
for n, k in ipairs(keys) do assert(m[k] == n) end
print(total(m), m[("long"):rep(20)])

-- keys that are removed and added again
local function churn(n)
  local live, d = 0, {}
  for i = 1, n do
    local k = "c" .. i % 13
    if d[k] then d[k] = nil live = live - 1 else d[k] = i live = live + 1 end
    if i % 50 == 0 then collectgarbage("step", 0) end
  end
  local c = total(d)
  return c == live, live
end
print(churn(2000))

-- tables that something depends on: metatables, classes and environments
local class = {}
for i = 1, 9 do class["m" .. i] = function() return i end end
class.__index = class
local o, names = setmetatable({}, class), {}
for i = 1, 40 do names[i] = "m" .. i end
local function calls()
  local s = 0
  for i = 1, 40 do
    local m = o[names[i]]
    if m then s = s + m() end
  end
  return s
end
for _ = 1, 40 do calls() end
print(calls())
for i = 5, 30 do class[names[i]] = function() return 100 end end
print(calls())
local env = setmetatable({}, { __index = _G })
local text = "local names, n = ... for i = 1, n do _ENV[names[i]] = i end return m1, m7"
local set = load(text, "=env", "t", env)
for _ = 1, 40 do set(names, 3) end
print(set(names, 5))
print(set(names, 40), env.m40)
