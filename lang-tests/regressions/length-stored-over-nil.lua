-- The optimizing compiler kept the tag of a register's home slot when the length of a table was
-- stored there, because the value before, an integer that was never stored, had the same tag.
-- expect: ok
--| 0	0	0	0	0	0	0	0	0	0
--| 1	table	1	table	1	table	1	table	1	table

function nothing() return nil end
bag = {}
local function length()
  local n
  nothing()
  log = {}
  n = 1
  bag = bag or {}
  n = #bag
  nothing()
  return n
end
local r = {}
for i = 1, 10 do r[i] = length() end
print(table.concat(r, "\t"))

-- The same where the result of an access has the type of the value before.
lists = { { {} } }
local function first()
  local t
  nothing()
  log = {}
  t = lists
  t = t[1]
  t = t[1]
  nothing()
  return #t + 1, type(t)
end
r = {}
for i = 1, 10, 2 do r[i], r[i + 1] = first() end
print(table.concat(r, "\t"))
