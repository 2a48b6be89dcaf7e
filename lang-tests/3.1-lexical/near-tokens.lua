-- The token that a syntax error names (3.1).
-- expect: ok
--| s:1: unexpected symbol near ''next''
--| s:1: unexpected symbol near <eof>
--| s:1: unexpected symbol near '34'
--| s:1: unexpected symbol near '1.50'
--| s:1: syntax error near <eof>
--| s:1: 'end' expected near 'else'
--| s:1: unexpected symbol near 'return'
--| s:1: unexpected symbol near ''two
--| ''
--| s:2: unexpected symbol near '[[long
--| string]]'
--| s:1: unexpected symbol near '[==[z]==]'
--| s:1: unexpected symbol near <eof>
--| s:1: ')' expected near '2'
--| s:1: '}' expected near '2'
--| s:1: unexpected symbol near <eof>
--| s:1: unexpected symbol near <eof>
--| s:1: <name> expected near '5'
--| s:1: unexpected symbol near '...'
--| s:1: unexpected symbol near '='
--| s:1: <name> expected near '2'
--|

local function try(s) print(select(2, load(s, "=s"))) end
try("x = 'str' 'next'")
try("x = ")
try("x = 12 34")
try("x = 0x10 1.50")
try("x = a b")
try("if x then else else end")
try("return return")
try("x = 1 'two\\n'")
try("x = 1 [[long\nstring]]")
try("x = 1 [==[z]==]")
try("f(")
try("f(1 2)")
try("x = {1 2}")
try("x = {")
try("a = b .. ")
try("local function 5() end")
try("x = 1 ...")
try("x = 1 // = 2")
try("x = 1 :: 2")
try("x = 'a very long string that is much longer than one would expect in a message' y 'z'")
