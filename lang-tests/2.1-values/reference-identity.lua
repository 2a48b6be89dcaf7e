-- Tables, functions and threads are references (2.1).
-- expect: ok
--| 2	true	false	true
--| true	true	true
--| true	false
--| changed
--| table	function	thread	builtin	nil

local a = { 1 }
local b = a
b[1] = 2
print(a[1], a == b, {} == {}, a ~= { 2 })
local function f() return a end
local g = f
print(f == g, f() == g(), rawequal(f(), a))
local co = coroutine.create(f)
print(co == co, coroutine.create(f) == co)
local function change(t) t.field = "changed"; t = nil end
change(a)
print(a.field)
local keys = { [a] = "table", [f] = "function", [co] = "thread", [print] = "builtin" }
print(keys[b], keys[g], keys[co], keys[print], keys[{}])
