-- string.dump and loading a binary chunk (6.4).
-- expect: ok
--| 6	constant	3
--| 14	constant	3
--| true
--| 2	nested
--| nil	attempt to load a binary chunk (mode is 't')
--| false	unable to dump given function
--| false	bad argument #1 to 'string.dump' (function expected, got no value)
--| false	bad argument #1 to 'string.dump' (function expected, got table)
--| false	src:3: attempt to index a nil value (local 't')
--| ?:-1: attempt to index a nil value
--| true

local function f(a, b) local c = a + b; return c * 2, "constant", #{ 1, 2, 3 } end
local g = load(string.dump(f), "=dumped", "b")
print(g(1, 2))
print(load(string.dump(f, true), "=stripped", "b")(3, 4))
local up = 5
local function h() return up end
print(load(string.dump(h), "=up", "b")() == _ENV)
print(load(string.dump(function(...)
  local function inner(x) return x and inner(x - 1 > 0 and x - 1 or nil) or "inner" end
  return select("#", ...), "nested"
end), "=n", "b")(1, 2))
print(load(string.dump(f), "=x", "t"))
print(pcall(string.dump, print)); print(pcall(string.dump)); print(pcall(string.dump, {}))
local errors = load(string.dump(load("local t = nil\n\nreturn t.x", "=src")), "=ignored", "b")
print(pcall(errors))
print(select(2, pcall(load(string.dump(load("local t = nil\n\nreturn t.x", "=src"), true),
  "=ignored", "b"))))
print(load(string.dump(f):sub(1, 20), "=truncated", "b") == nil)
