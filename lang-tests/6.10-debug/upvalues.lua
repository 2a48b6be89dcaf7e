-- Upvalues through debug: getupvalue, setupvalue, upvalueid, upvaluejoin (6.10).
-- expect: ok
--| a	1
--| b	2
--|
--|
--|
--| _ENV
--|
--| true	true
--|
--| a	nil	nil	nil	A	2
--| A	2	b	nil	3
--| false	bad argument #3 to 'debug.setupvalue' (value expected)
--| false	bad argument #1 to 'debug.getupvalue' (function expected, got number)
--| false	bad argument #2 to 'debug.getupvalue' (number expected, got no value)
--| false	bad argument #1 to 'debug.setupvalue' (function expected, got table)
--| false	bad argument #2 to 'debug.setupvalue' (number expected, got string)
--| true	true	true	false	nil	nil	nil	true
--| false	bad argument #2 to 'debug.upvalueid' (number expected, got no value)
--| false	bad argument #1 to 'debug.upvalueid' (function expected, got number)
--| false	bad argument #2 to 'debug.upvalueid' (number expected, got string)
--| true	3	nil
--| joined	nil
--| joined	0
--| false	bad argument #2 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #4 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #2 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #4 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #2 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #4 to 'debug.upvaluejoin' (invalid upvalue index)
--| false	bad argument #3 to 'debug.upvaluejoin' (function expected, got number)
--| false	bad argument #1 to 'debug.upvaluejoin' (function expected, got number)
--| false	bad argument #4 to 'debug.upvaluejoin' (number expected, got no value)
--| false	bad argument #2 to 'debug.upvaluejoin' (number expected, got string)
--| true
--| 3	4	5
--| own
--| true	true
--| false
--| 3	2	3
--| (no name)
--| (no name)	set

local a, b, c = 1, 2, 3
local function f() return a, b end; local function g() return b, c end
local function h() return print end
print(debug.getupvalue(f, 1)); print(debug.getupvalue(f, 2)); print(debug.getupvalue(f, 3))
print(debug.getupvalue(f, 0)); print(debug.getupvalue(f, -1)); print((debug.getupvalue(h, 1)))
print(debug.getupvalue(print, 1))
print(debug.getupvalue(load("return x"), 1) == "_ENV", debug.getupvalue(load("return 1"),
  1) == "_ENV")
print((debug.getupvalue(string.gmatch("x", "x"), 1)))
print(debug.setupvalue(f, 1, "A"), debug.setupvalue(f, 3, "x"), debug.setupvalue(f, 0, "x"),
  debug.setupvalue(print, 1, 1), f())
print(a, b, debug.setupvalue(f, 2, nil), g()); print(pcall(debug.setupvalue, f, 1))
print(pcall(debug.getupvalue, 5, 1)); print(pcall(debug.getupvalue, f))
print(pcall(debug.setupvalue, {}, 1, 1)); print(pcall(debug.setupvalue, f, "x", 1))
local id = debug.upvalueid
print(type(id(f, 1)) == "userdata", id(f, 1) == id(f, 1), id(f, 2) == id(g, 1),
  id(f, 1) == id(g, 2), id(f, 3), id(f, 0), id(print, 1), id(load("return x"), 1) ~= nil)
print(pcall(id, f)); print(pcall(id, 5, 1)); print(pcall(id, f, "x"))
debug.upvaluejoin(f, 1, g, 2); print(id(f, 1) == id(g, 2), f()); c = "joined"; print(f())
a = "apart"; print(f(), select("#", debug.upvaluejoin(f, 1, f, 1)))
for _, args in ipairs({ { f, 3, g, 1 }, { f, 1, g, 3 }, { f, 0, g, 1 }, { f, 1, g, 0 },
  { print, 1, g, 1 }, { f, 1, print, 1 }, { f, 1, 5, 1 }, { 5, 1, f, 1 }, { f, 1, f },
  { f, "x", f, 1 } }) do
  print(pcall(debug.upvaluejoin, table.unpack(args)))
end
local function counter() local n = 0; return function() n = n + 1; return n end end
local c1, c2 = counter(), counter(); c1(); c1(); print(id(c1, 1) ~= id(c2, 1))
debug.upvaluejoin(c2, 1, c1, 1); print(c2(), c1(), c2())
local e1, e2 = load("return v"), load("v = 5"); debug.setupvalue(e1, 1, { v = "own" }); print(e1())
debug.upvaluejoin(e1, 1, e2, 1); print(e1() == v, debug.getupvalue(e1, 1) == "_ENV")
local loops = {} for i = 1, 3 do loops[i] = function() return i end end
print(id(loops[1], 1) == id(loops[2], 1)); debug.upvaluejoin(loops[1], 1, loops[3], 1)
print(loops[1](), loops[2](), loops[3]())
local stripped = load(string.dump(function() return a, b end, true))
print((debug.getupvalue(stripped, 1)))
print(debug.setupvalue(stripped, 2, "set"), select(2, stripped()))
