-- Wrong attribs and assignments to constants (3.3.7).
-- expect: ok
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: attempt to assign to const variable 'x'
--| s:1: unknown attribute 'unknown'
--| s:1: '>' expected near '='
--| s:1: attempt to assign to const variable 'x'
--| s:1: <name> expected near '5'
--| s:1: multiple to-be-closed variables in local list
--| s:1: <name> expected near '<'
--| s:1: syntax error near '<'
--| s:1: '(' expected near '<'
--| s:1: '=' or 'in' expected near '<'
--| s:1: ')' expected near '<'
--|
--| s:1: attempt to assign to const variable 'x'

local function try(s) print(select(2, load(s, "=s"))) end
try("local x <const> = 1; x = 2")
try("local x <close> = nil; x = 2")
try("local x <const>, y = 1, 2; y = 3; x = 4")
try("local x <const> = {}; function f() x = 1 end")
try("local x <const> = 1; function f() return function() x = 2 end end")
try("local x <const> = 1; x, y = 1, 2")
try("local x <const> = 1; y, x = 1, 2")
try("local x <const> = 1; function x() end")
try("local x <unknown> = 1")
try("local x <const = 1")
try("local x < const > = 1; x = 2")
try("local x <5> = 1")
try("local a <close>, b <close> = 1, 2")
try("local <const> x = 1")
try("x <const> = 1")
try("local function f <const> () end")
try("for i <const> = 1, 2 do end")
try("function f(a <const>) end")
try("local x <const> = 1; for x = 1, 2 do x = 5 end")
try("local x <const> = 1; do local x = 2; x = 3 end; x = 4")
