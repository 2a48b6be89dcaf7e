-- Syntax errors carry the line of the offending token (3.1).
-- expect: ok
--| s:4: unexpected symbol near '='
--| s:3: ')' expected (to close '(' at line 1) near <eof>
--| s:4: 'end' expected (to close 'if' at line 1) near <eof>
--| s:5: 'end' expected (to close 'function' at line 1) near <eof>
--| s:4: '}' expected (to close '{' at line 1) near <eof>
--| s:3: 'until' expected (to close 'repeat' at line 1) near <eof>
--| s:3: 'end' expected (to close 'for' at line 1) near <eof>
--| s:4: unexpected symbol near '='
--| s:3: '}' expected (to close '{' at line 1) near 'b'
--| s:2: 'end' expected (to close 'do' at line 1) near <eof>
--| s:4: 'end' expected (to close 'function' at line 1) near <eof>
--| s:3: ')' expected (to close '(' at line 1) near <eof>

local function try(s) print(select(2, load(s, "=s"))) end
try("\n\n\nx = = 1")
try("x = (1\n\n+ 2")
try("if true then\n\nx = 1\n")
try("function f()\n  while true do\n    x = 1\n  end\n")
try("f{\n1,\n2\n")
try("repeat\nx = 1\n")
try("for i = 1, 2 do\n\n")
try("x = [[\n\n\n]] = 1")
try("local t = {\n  a = 1\n  b = 2\n}")
try("do\n")
try("a = function()\n\n\n")
try("x = (\n1\n")
