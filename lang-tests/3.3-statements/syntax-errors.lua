-- Malformed statements and the tokens they name (3.3).
-- expect: ok
--| s:1: 'then' expected near 'end'
--| s:1: unexpected symbol near 'then'
--| s:1: 'end' expected near <eof>
--| s:1: 'end' expected near <eof>
--| s:1: unexpected symbol near 'end'
--| s:1: 'do' expected near 'end'
--| s:1: unexpected symbol near 'do'
--| s:1: 'until' expected near <eof>
--| s:1: unexpected symbol near <eof>
--| s:1: <eof> expected near 'end'
--| s:1: <eof> expected near 'until'
--| s:1: <eof> expected near 'else'
--| s:1: unexpected symbol near 'then'
--| s:1: 'end' expected near <eof>
--| s:1: <name> expected near <eof>
--| s:1: <name> expected near '='
--| s:1: syntax error near <eof>
--| s:1: <name> expected near '='
--| s:1: <name> or '...' expected near <eof>
--| s:1: <name> or '...' expected near ')'
--| s:1: ')' expected near 'b'
--| s:1: ')' expected near ','
--| s:1: <name> or '...' expected near '1'
--| s:1: unexpected symbol near ')'
--| s:1: unexpected symbol near ','
--| s:1: '=' expected near '2'
--| s:1: ']' expected near '}'
--| s:1: '}' expected near '='
--| s:1: <name> expected near <eof>
--| s:1: '(' expected near <eof>

local function try(s) print(select(2, load(s, "=s"))) end
try("if x end")
try("if then end")
try("if x then")
try("if x then else")
try("if x then elseif end")
try("while x end")
try("while do end")
try("repeat x = 1")
try("repeat until")
try("end")
try("until x")
try("else")
try("then")
try("do")
try("local")
try("local x, = 1")
try("local x y")
try("local = 1")
try("function f(")
try("function f(a,) end")
try("function f(a b) end")
try("function f(..., a) end")
try("function f(1) end")
try("f(1,)")
try("f{1,,2}")
try("x = {[1] 2}")
try("x = {[1}")
try("x = {a.b = 1}")
try("local function")
try("x = function")
