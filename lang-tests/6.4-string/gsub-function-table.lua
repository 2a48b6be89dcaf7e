-- string.gsub with a function or a table (6.4).
-- expect: ok
--| heLLo	2
--| He11o	5
--| Bob is 42	2
--| ABC	3
--| abc	1
--| abc	1
--| 9	1
--| 1,a2,b3,c4,	4
--| %1	1
--| aabbcc	3
--| a! b! c	2
--| nil	1
--| false	invalid replacement value (a table)
--| false	invalid replacement value (a boolean)
--| false	bad argument #3 to 'string.gsub' (string/function/table expected, got boolean)
--| false	bad argument #3 to 'string.gsub' (string/function/table expected, got no value)
--| false	bad argument #2 to 'string.gsub' (string expected, got no value)
--| false	inside
--| false	bad argument #4 to 'string.gsub' (number expected, got string)
--| 110 101 115 116 101 100 	6

print(("hello"):gsub("l", { l = "L" })); print(("hello"):gsub("%w", { h = "H", e = false, l = 1 }))
print(("$name is $age"):gsub("%$(%w+)", { name = "Bob", age = 42 }))
print(("abc"):gsub("%w", function(c) return c:upper() end))
print(("abc"):gsub("b", function() end)); print(("abc"):gsub("b", function() return false end))
print(("4+5"):gsub("(%d)%+(%d)", function(a, b) return a + b end))
print(("abc"):gsub("()", function(p) return p .. "," end))
print(("x"):gsub("x", function() return "%1" end))
print(("abc"):gsub("%w", setmetatable({}, { __index = function(t, k) return k .. k end })))
print(("a b c"):gsub("%w", function(c) return c .. "!" end, 2))
print(("x"):gsub("(x)", function(a, b) return tostring(b) end))
print(pcall(string.gsub, "x", "x", function() return {} end))
print(pcall(string.gsub, "x", "x", { x = true })); print(pcall(string.gsub, "x", "x", true))
print(pcall(string.gsub, "x", "x")); print(pcall(string.gsub, "x"))
print(pcall(string.gsub, "x", "x", function() error("inside", 0) end))
print(pcall(string.gsub, "x", "x", "y", "z"))
local n = 0
print((("nested"):gsub(".", function(c)
  return (c:gsub(".", function(d) n = n + 1; return d:byte() .. " " end))
end)), n)
