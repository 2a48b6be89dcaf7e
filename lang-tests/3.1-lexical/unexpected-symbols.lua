-- Unexpected characters and tokens as syntax errors (3.1).
-- expect: ok
--| s:1: unexpected symbol near '@'
--| s:1: unexpected symbol near '$'
--| s:1: unexpected symbol near '%'
--| s:1: unexpected symbol near '!'
--| s:1: syntax error near '!'
--| s:1: unexpected symbol near '?'
--| s:1: unexpected symbol near '<\1>'
--| s:1: unexpected symbol near '<\200>'
--| s:1: unexpected symbol
--| s:1: unexpected symbol
--| s:1: function arguments expected near '='
--| s:1: unexpected symbol near '}'
--| s:1: <name> expected near <eof>
--| s:1: unexpected symbol near '`'
--| s:1: syntax error near '&'
--| s:1: syntax error near '+'
--| s:1: unexpected symbol near '<\127>'

local function try(s) print(select(2, load(s, "=s"))) end
try("x = 1 @ 2")
try("x = $")
try("x = 5 % % 2")
try("!")
try("x != 1")
try("x = a ? b : c")
try("\1")
try("x = \200")
try("\0")
try("x = 1 \0 2")
try("a.b:c = 1")
try("x = }")
try("for")
try("x = `a`")
try("x &&= 1")
try("x += 1")
try("x = \127")
