-- A function called where it was made stores to a table whose constructor ends before the same
-- place in the calling function.
-- expect: ok
--| stored
local function make(a, b, ...)
  local r = { first = b }
  if a % 3 == 0 then r.second = a else r.third = b end
  (function() r.last = b end)()
  return r
end
for i = 1, 60 do
  assert(make(i, i + 0.5, "x").last == i + 0.5)
end
for i = 1, 20 do
  assert(make(i, "s").last == "s")
  assert(make(1.5, nil).last == nil)
end
print("stored")
