-- Loops that store booleans test once whether the array's table has a metatable. One that has is
-- not stored to without asking it, where elements are nil, and the loop goes on to work with it.
-- expect: ok
--| 500	0
--| 251	249
--| 500	249
--| 500	249
--| 500	249

local function mark(t, n)
  local i = 1
  while i <= n do
    t[i] = false
    i = i + 1
  end
end

local function array(n, hole)
  local t = {}
  for i = 1, n do t[i] = true end
  for i = hole, n - 1, hole do t[i] = nil end
  return t
end

local asked = 0
local Class = {}
function Class.__newindex(t, i, v)
  asked = asked + 1
end

local function count(t, n)
  local falses = 0
  for i = 1, n do
    if rawget(t, i) == false then falses = falses + 1 end
  end
  return falses
end

local plain
for _ = 1, 400 do
  plain = array(500, 2)
  mark(plain, 500)
end
print(count(plain, 500), asked)

local watched = setmetatable(array(500, 2), Class)
mark(watched, 500)
print(count(watched, 500), asked)

-- with a metatable that has nothing to say
for _ = 1, 3 do
  local quiet
  for _ = 1, 300 do
    quiet = setmetatable(array(500, 2), { __index = Class })
    mark(quiet, 500)
  end
  print(count(quiet, 500), asked)
end
