-- load from strings and functions (6.1).
-- expect: ok
--| 2	5	nil	0
--| parts
--| 5
--| nil	[string "x ="]:1: unexpected symbol near <eof>
--| nil	attempt to load a text chunk (mode is 'b')
--| nil	attempt to load a binary chunk (mode is 't')
--| true	nil	reader function must return a string
--| true	nil	reader fails
--| false	bad argument #1 to 'load' (function expected, got nil)
--| false	bad argument #1 to 'load' (function expected, got no value)
--| true	nil	[string "5"]:1: unexpected symbol near '5'
--| false	bad argument #2 to 'load' (string expected, got table)
--| true	nil	attempt to load a text chunk (mode is 'x')
--| 11	12	1
--| return debug.getinfo(1, 'S').source	file.lua

print(load("return 1 + 1")(), load("return ...")(5), load("")(), select("#", load("")()))
local parts = { "return ", "'par", "ts'", nil }
local i = 0
print(load(function() i = i + 1; return parts[i] end)())
i = 0
print(load(function() i = i + 1; return ({ "return 5", "" , " + 1" })[i] end)())
print(load("x ="))
print(load("return 1", "=name", "b"))
print(load("\27Lua", "=name", "t"))
print(pcall(load, function() return {} end, "=name"))
print(pcall(load, function() error("reader fails", 0) end))
print(pcall(load, nil)); print(pcall(load)); print(pcall(load, 5))
print(pcall(load, "return 1", {}))
print(pcall(load, "return 1", "=n", "x"))
local f = load("local a = ...; return function() a = (a or 0) + 1; return a end")
local g, h = f(10), f()
print(g(), g(), h())
print(load("return debug.getinfo(1, 'S').source")(), load("return debug.getinfo(1, 'S').short_src",
  "@file.lua")())
