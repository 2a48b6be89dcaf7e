-- expect: ok
--| 160.0	w?
--| 320.0	w?
--| 6450
--| 77
-- Functions for absent fields that compare the name with strings of their own: the comparison is
-- decided where the function is inlined, by the text of both constants.
local Point = {}
local function get(t, k)
  if k == "x" then return t[1]
  elseif k == "y" then return t[2]
  elseif k == "length" then return (t.x * t.x + t.y * t.y) ^ 0.5
  elseif k ~= "z" then return k .. "?"
  end
end
Point.__index = get
local function new(x, y) return setmetatable({ x, y }, Point) end
local function use(p, n)
  local s, other = 0, nil
  for _ = 1, n do
    s = s + p.x + p.y * 2 + p.length
    if p.z then s = s + 1000 end
    other = p.w
  end
  return s, other
end
for _ = 1, 30 do use(new(3, 4), 30) end
print(use(new(3, 4), 10))
print(use(new(6, 8), 10))

local function pick(k)
  if k == "a" then return 1 elseif k == "b" then return 2 end
  return 3
end
local function sum(n)
  local s = 0
  for i = 1, n do
    s = s + pick("a") + pick("b") * 10 + pick("c") * 100
    s = s + pick(i % 2 == 0 and "a" or "b")
  end
  return s
end
for _ = 1, 30 do sum(30) end
print(sum(20))

-- a constant of the caller that is equal, and one that differs after the same beginning
local function same(a) return a == "name" end
local function names(n)
  local c = 0
  for _ = 1, n do
    if same("name") then c = c + 1 end
    if same("names") then c = c + 100 end
    if same("nam\0e") then c = c + 100 end
    if not same("") then c = c + 10 end
  end
  return c
end
for _ = 1, 30 do names(30) end
print(names(7))
