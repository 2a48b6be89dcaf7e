-- Wrong iterators (3.3.5).
-- expect: ok
--| false	generic-for-errors.lua:20: attempt to call a nil value (for iterator 'for iterator')
--| false	generic-for-errors.lua:21: attempt to call a number value (for iterator 'for iterator')
--| false	generic-for-errors.lua:22: attempt to call a table value (for iterator 'for iterator')
--| false	generic-for-errors.lua:23: attempt to call a nil value (for iterator 'for iterator')
--| false	generic-for-errors.lua:24: bad argument #1 to 'ipairs' (value expected)
--| false	generic-for-errors.lua:25: bad argument #1 to 'for iterator' (table expected, got nil)
--| false	generic-for-errors.lua:26: bad argument #1 to 'for iterator' (table expected, got number)
--| false	generic-for-errors.lua:27: from iterator
--| false	attempt to index a number value
--| false	generic-for-errors.lua:29: variable '(for state)' got a non-closable value
--| s:1: unexpected symbol near 'do'
--| s:1: <name> expected near 'in'
--| s:1: '=' or 'in' expected near 'v'
--| s:1: 'do' expected near 'end'
--| s:1: <name> expected near '('
--| s:1: 'do' expected near 'k'

print(pcall(function() for k in nil do end end))
print(pcall(function() for k in 5 do end end))
print(pcall(function() for k in {} do end end))
print(pcall(function() local t = {}; for k in t.iterator do end end))
print(pcall(function() for k in ipairs() do end end))
print(pcall(function() for k in pairs(nil) do end end))
print(pcall(function() for k in next, 5 do end end))
print(pcall(function() for k in error, "from iterator" do end end))
print(pcall(function() for k, v in ipairs(5) do end end))
print(pcall(function() for k in print, nil, nil, 5 do end end))
local function try(s) print(select(2, load(s, "=s"))) end
try("for k in do end")
try("for k, in x do end")
try("for k v in x do end")
try("for k in x end")
try("for (k) in x do end")
try("for k in pairs(t) k = 1 end")
