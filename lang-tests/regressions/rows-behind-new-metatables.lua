-- Setting the metatable of a new table made a loop forget elements without counting it, so that it
-- used the first element in all iterations although it stored another.
-- expect: ok
--| 60105 60105 60105
--| 60105 60105 60105
--| 60105 60105 60105
local C = {}
C.__index = C
local function f(m, n)
  local s = 0
  for i = 1, n do
    s = s + m[1][1]
    local o = setmetatable({x = i}, C)
    m[1] = {i}
    s = s + m[1][1] + o.x
  end
  return s
end
local function g(m, n)
  local s = 0
  for i = 1, n do
    s = s + m[1][1]
    local o = setmetatable({x = i}, {__index = C})
    m[1] = {i}
    s = s + m[1][1] + o.x
  end
  return s
end
local function h(n)
  local m, s = {{5}}, 0
  for i = 1, n do
    s = s + m[1][1]
    setmetatable(m, C)
    m[1] = {i}
    s = s + m[1][1] + i
  end
  return s
end
for _, k in ipairs {f, g} do
  print(k({{5}}, 200) .. " " .. k({{5}}, 200) .. " " .. k({{5}}, 200))
end
print(h(200) .. " " .. h(200) .. " " .. h(200))
