-- All expressions are evaluated before any assignment (3.3.3).
-- expect: ok
--| 4	20	nil
--| 2	3	1
--| 2	one	two
--| 3	one
--| new table	changed
--| nil	kept index

local i, a = 3, {}
i, a[i] = i + 1, 20
print(i, a[3], a[4])
local x, y, z = 1, 2, 3
x, y, z = y, z, x
print(x, y, z)
local t = { 1, 2, 3 }
local n = 1
n, t[n], t[n + 1] = 2, "one", "two"
print(n, t[1], t[2])
local function swap(t, i, j) t[i], t[j] = t[j], t[i] end
swap(t, 1, 3)
print(t[1], t[3])
local p = { v = "old" }
local q = p
p, p.v = { v = "new table" }, "changed"
print(p.v, q.v)
do
  local u = { 1 }
  local k = 1
  k, u[k] = nil, "kept index"
  print(k, u[1])
end
