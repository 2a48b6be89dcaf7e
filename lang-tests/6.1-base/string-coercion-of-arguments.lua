-- Library arguments accept numbers as strings and numeric strings as numbers (6.1, 6.4).
-- expect: ok
--| xxx	5	1.5	23	55
--| 10	true	3
--| 12.5x	10	1 nil	  3.1
--| 1	55	000	2	2
--| false	bad argument #2 to 'string.rep' (number expected, got table)
--| false	bad argument #1 to 'string.len' (string expected, got nil)
--| false	bad argument #1 to 'string.upper' (string expected, got boolean)
--| false	bad argument #1 to 'string.rep' (string expected, got no value)
--| false	bad argument #2 to 'string.rep' (number expected, got string)
--| false	attempt to call a nil value
--| false	string-coercion-of-arguments.lua:26: bad argument #1 to 'rep' (number expected, got table)
--| false	string-coercion-of-arguments.lua:27: bad argument #1 to 'rep' (string expected, got no value)
--| false	string-coercion-of-arguments.lua:28: bad argument #1 to 'rep' (number expected, got no value)
--| false	string-coercion-of-arguments.lua:29: bad argument #1 to 'upper' (string expected, got nil)
print(("x"):rep("3"), string.len(12345), string.upper(1.5), string.sub(12345, "2", "3"),
  string.byte(7))
print(math.max("10"), pcall(math.floor, "3.7"))
print(table.concat({ 1, 2.5, "x" }), ("%d"):format("10"), ("%s %s"):format(1, nil),
  ("%5.1f"):format("3.14159"))
print(tostring(1):len(), (5 .. ""):rep(2), string.rep(0, 3), ("a,b"):find(",", "1"))
print(pcall(string.rep, "x", {})); print(pcall(string.len, nil)); print(pcall(string.upper, true))
print(pcall(string.rep))
print(pcall(("x").rep, "x", "y")); print(pcall(("x").bad))
print(pcall(function() return ("x"):rep({}) end))
print(pcall(function() return string.rep() end))
print(pcall(function() return ("x"):rep() end))
print(pcall(function() local s = string; return s.upper(nil) end))
