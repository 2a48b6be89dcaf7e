-- Wrong assignments, at compile time and at run time (3.3.3).
-- expect: ok
--| s:1: unexpected symbol near '1'
--| s:1: syntax error near '='
--| s:1: syntax error near '='
--| s:1: syntax error near '='
--| s:1: unexpected symbol near '5'
--| s:1: syntax error near <eof>
--| s:1: syntax error near <eof>
--| s:1: syntax error near '+'
--| s:1: unexpected symbol near ''x''
--| s:1: '=' expected near <eof>
--| s:1: unexpected symbol near <eof>
--| s:1: syntax error near <eof>
--| s:1: unexpected symbol near '='
--| s:1: unexpected symbol near 'nil'
--| s:1: unexpected symbol near '...'
--| s:1: syntax error near '='
--| s:1: syntax error near <eof>
--| false	assignment-errors.lua:44: attempt to index a nil value (local 't')
--| false	assignment-errors.lua:45: attempt to index a nil value (field 'x')
--| false	assignment-errors.lua:46: attempt to index a nil value (field 'x')
--| false	assignment-errors.lua:47: attempt to index a string value (constant 'x')
--| false	assignment-errors.lua:48: attempt to index a string value (local 's')

local function try(s) print(select(2, load(s, "=s"))) end
try("1 = 2")
try("f() = 1")
try("(a) = 1")
try("a, f() = 1, 2")
try("a, 5 = 1")
try("a")
try("a.b")
try("a + 1")
try("'x' = 1")
try("a, b")
try("a = ")
try("a.b.c")
try("a = 1 = 2")
try("nil = 1")
try("... = 1")
try("a:b() = 1")
try("(f)")
print(pcall(function() local t; t.x = 1 end))
print(pcall(function() local t = {}; t.x.y = 1 end))
print(pcall(function() local t = {}; t.x.y.z = 1 end))
print(pcall(function() ("x").y = 1 end))
print(pcall(function() local s = "x"; s.y = 1 end))
