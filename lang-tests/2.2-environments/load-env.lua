-- load gives the chunk's first upvalue, _ENV, a value of its own (2.2, 6.1).
-- expect: ok
--| 1
--| 1	nil
--| 1	2	3
--| from env
--| false	c:1: attempt to index a nil value (global 'a')
--| false	c:1: attempt to index a nil value (upvalue '_ENV')
--| _ENV
--| nested

local env = { print = print }
load("x = 1; print(x)", "chunk", "t", env)()
print(env.x, x)
local f = load("return ...", "chunk", "t", env)
print(f(1, 2, 3))
print(load("return a", "c", "t", { a = "from env" })())
print(pcall(load("return a.b", "=c", "t", {})))
print(pcall(load("return a", "=c", "t", nil)))
local name = debug.getupvalue(load("return a"), 1)
print(name)
local g = load("return function() return v end", "c", "t", { v = "nested" })()
print(g())
