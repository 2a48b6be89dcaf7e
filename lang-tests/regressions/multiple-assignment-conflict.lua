-- A local used as table or index and assigned in the same statement keeps its old value there.
-- expect: ok
--| nil	1
--| 2	first	20
--| nil
--| nil	set	nil
--| 3	1	2
--| 1	0

local a = {}
local b = a
a, a.x = nil, 1
print(a, b.x)
local i, t = 1, { 10, 20 }
i, t[i] = 2, "first"
print(i, t[1], t[2])
t, t[1] = {}, "in the old table"
print(t[1])
local function f()
  local up = { 1 }
  local k = 1
  local function g() up, up[k], k = nil, "set", nil; return up, k end
  local keep = up
  g()
  return up, keep[1], k
end
print(f())
local x, y, z = 1, 2, 3
x, y, z = z, x, y
print(x, y, z)
local s = { n = 0 }
s.n, s.m = s.n + 1, s.n
print(s.n, s.m)
