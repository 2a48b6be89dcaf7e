-- A field that a chain of metatables finds in a table of globals, whose values live apart (manual
-- 2.2).
-- expect: ok
--| true	true	true	nil
--| 8	changed

local G = _G
local function look()
  local e = setmetatable({}, {__index = G})
  return e._G == G, e.print == print, type(e.type) == "function", e.nothing
end
local a, b, c, d
for i = 1, 3000 do
  local w, x, y, z = look()
  if i == 1 then a, b, c, d = w, x, y, z end
  assert(w == a and x == b and y == c and z == d, i)
end
print(a, b, c, d)

local env = setmetatable({}, {__index = G})
local f = load("counter = (counter or 0) + 1 return word, counter", "=f", "t", env)
word = "first"
local last, n
for i = 1, 8 do
  if i == 5 then word = "changed" end
  last, n = f()
end
print(n, last)
