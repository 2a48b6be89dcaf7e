-- Values that a numeric for refuses (3.3.5).
-- expect: ok
--| false	numeric-for-errors.lua:21: bad 'for' initial value (number expected, got string)
--| false	numeric-for-errors.lua:22: bad 'for' limit (number expected, got table)
--| false	numeric-for-errors.lua:23: bad 'for' step (number expected, got nil)
--| false	numeric-for-errors.lua:24: bad 'for' initial value (number expected, got nil)
--| false	numeric-for-errors.lua:25: bad 'for' limit (number expected, got nil)
--| true
--| true
--| true
--| true
--| false	numeric-for-errors.lua:30: bad 'for' step (number expected, got function)
--| s:1: ',' expected near 'do'
--| s:1: 'do' expected near ','
--| s:1: 'in' expected near '='
--| s:1: '=' or 'in' expected near '.'
--| s:1: <name> expected near '='
--| s:1: 'do' expected near 'end'
--| s:1: '=' or 'in' expected near 'do'

print(pcall(function() for i = "a", 2 do end end))
print(pcall(function() for i = 1, {} do end end))
print(pcall(function() for i = 1, 2, nil do end end))
print(pcall(function() for i = nil, 2 do end end))
print(pcall(function() for i = 1, nil do end end))
print(pcall(function() for i = "1", 2 do end end))
print(pcall(function() for i = 1, "2" do end end))
print(pcall(function() for i = 1, 2, "1" do end end))
print(pcall(function() for i = 1.5, "2" do end end))
print(pcall(function() for i = 1, 2, print do end end))
local function try(s) print(select(2, load(s, "=s"))) end
try("for i = 1 do end")
try("for i = 1, 2, 3, 4 do end")
try("for i, j = 1, 2 do end")
try("for i.x = 1, 2 do end")
try("for = 1, 2 do end")
try("for i = 1, 2 end")
try("for i do end")
