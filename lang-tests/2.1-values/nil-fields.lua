-- A field set to nil is absent (2.1).
-- expect: ok
--| 1	nil	3	nil
--| nil	c	0
--| nil
--| nil	0
--| 3

local t = { a = 1, b = nil, c = 3 }
print(t.a, t.b, t.c, rawget(t, "b"))
t.a = nil
print(t.a, next(t), rawlen(t))
t.c = nil
print(next(t))
for i = 1, 10 do t[i] = i end
for i = 1, 10 do t[i] = nil end
print(next(t), #t)
local count = 0
for k in pairs({ 1, nil, 3, x = nil, y = 5 }) do count = count + 1 end
print(count)
