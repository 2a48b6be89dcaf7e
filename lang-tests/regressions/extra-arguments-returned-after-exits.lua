-- covers: an inlined vararg function that returns its extra arguments, after a recursive call has
-- changed what was known of a table, so that code exits between the two
-- expect: ok
--| 64	9
--| 64	10.5
--| 64	11.5
local rec
local function va(o, n, ...)
  rec(o, n - 1)
  return ...
end
function rec(o, n)
  if n < 1 then return n end
  o.c = o.c + 1
  -- so long that it is not inlined as a whole
  local x = n
  x = x * 3 ~ 1 x = x * 3 ~ 2 x = x * 3 ~ 3 x = x * 3 ~ 4 x = x * 3 ~ 5 x = x * 3 ~ 6
  x = x * 3 ~ 1 x = x * 3 ~ 2 x = x * 3 ~ 3 x = x * 3 ~ 4 x = x * 3 ~ 5 x = x * 3 ~ 6
  local a, b = va(o, n, n, 2)
  if n <= o.at then o.c = o.c + 0.5 end
  o.v = o.v + a + b
  return n
end
local function run(at)
  local o = {v = 1, c = 0, at = at}
  rec(o, 9)
  return o.v, o.c
end
for round = 1, 40 do va({v = 1, c = 0}, 1) end
for round = 1, 300 do run(-1) end
print(run(-1))
for round = 1, 300 do run(3) end
print(run(3))
print(run(5))
