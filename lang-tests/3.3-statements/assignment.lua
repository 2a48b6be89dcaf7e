-- Assignment adjusts values to variables (3.3.3).
-- expect: ok
--| 1	2	nil
--| 2	1
--| x	nil	nil
--| 1	2
--| 1	2	3
--| 0	1	2
--| 1	10	nil
--| 1	nil	nil
--| 1	2	3
--| nil

local a, b, c = 1, 2
print(a, b, c)
a, b = b, a
print(a, b)
a, b, c = "x"
print(a, b, c)
a, b = 1, 2, error == nil
print(a, b)
local function f() return 1, 2, 3 end
a, b, c = f()
print(a, b, c)
a, b, c = 0, f()
print(a, b, c)
a, b, c = f(), 10
print(a, b, c)
a, b, c = (f())
print(a, b, c)
local t = {}
t.x, t.y, t.z = f()
print(t.x, t.y, t.z)
t.a, t.b = t.b, t.a
print(next({ t.a, t.b }))
