local a, b, t = 1
a, b = b, a
t[a], a = a, t
t.x, t = 1, 2
t[1], t[a], t.y, g = nil, true, "s", 3
x, y = f()
x, y, z = 1, f()
x = 1, 2, f()
local u; local v; local w
local function up() t.x, t = 1, 2; a, b = b, a end
t[1.0], t[-1], t[255], t[256] = 1, 2, 3, 4
