-- The items of a constructor: the kind of the array depends on the tags of both.
local function pair(a, b)
  return { a, b }
end
for i = 1, 4 do
  pair(i, "one")
  pair(i, i + 0.5)
end
