-- The line that an error names in statements of several lines (2.3).
-- expect: ok
--| s:3: attempt to index a nil value (field 'a')
--| s:2: attempt to call a nil value (local 'f')
--| s:2: attempt to perform arithmetic on a nil value
--| s:3: attempt to perform arithmetic on a nil value
--| s:1: attempt to perform arithmetic on a table value
--| s:2: attempt to concatenate a nil value
--| s:2: bad 'for' limit (number expected, got string)
--| s:3: attempt to index a nil value (local 't')
--| s:4: attempt to index a nil value (local 't')
--| s:2: attempt to compare number with table
--| s:2: inside
--| s:3: up
--| s:3: attempt to concatenate a nil value
--| s:2: attempt to index a nil value (global 'undefined')
--| s:3: attempt to index a nil value (local 'a')
--| s:4: index foo

local function try(source) print(select(2, pcall(load(source, "=s")))) end
try("local t = {}\nlocal x = t.a\n  .b\n  .c")
try("local f\nf(\n1,\n2\n)")
try("local a = 1\nlocal b = a +\n  nil")
try("local x = {\n  1,\n  nil + 1,\n  2\n}")
try("return 1 +\n\n{}")
try("local s = 'a' ..\n'b' ..\nnil")
try("for i = 1,\n  'x' do\nend")
try("local t = nil\nt.x =\n  1")
try("local t = nil\n\nt[1], t[2] = 1,\n 2")
try("if 1 <\n{} then end")
try("local function f()\n  error('inside')\nend\n\nf()")
try("local f = function() error('up', 2) end\n\nf()\n")
try("return (function()\n\n return nil .. 'x' end)()")
try("print(\n  undefined.x,\n  1)")
try("local a\na\n.b\n.c = 1")
try("local t = setmetatable({}, {__index = function(t, k) error('index ' .. k, 2) end})\n\n\n"
  .. "return t.foo")
