-- Instructions that use the value of an operand, and stores, are on the lines of PUC: where the
-- parser has read the next token, not where the operand ends (2.3, 6.10).
-- expect: ok
--| 1 3	c:3: attempt to index a nil value (local 'a')
--| 1 2 3	c:3: attempt to index a nil value
--| 1 2 3	c:3: attempt to index a nil value
--| 1 2 3	c:3: attempt to index a nil value
--| 1 2 3	c:3: attempt to index a nil value
--| 1 2 3	c:3: attempt to index a boolean value
--| 1 2 3	c:3: attempt to call a nil value (method 'c')
--| 1 2 3	c:3: attempt to index a function value
--| 1 2 3 4	c:4: attempt to index a nil value
--| 1 2 3	c:3: attempt to call a nil value (method 'c')
--| 1 2 3 4
--| 1 3 4
--| 1 2 4 5 6
--| 1 2 3
--| 1 2 3
--| 1 2 3
--| 2 3	c:3: attempt to concatenate a boolean value
--| 1 3 5 6
--| 2 4	c:4: attempt to index a nil value (global 'n')
--| 2 4	c:4: attempt to index a nil value (global 'n')
--| 2 3 4	c:4: attempt to index a nil value (global 'n')
--| 2 3 4	c:4: attempt to index a nil value (global 'n')
--| 1 4	c:1: attempt to index a nil value (global 'n')
--| 2 3 6	c:2: attempt to index a nil value (global 'n')

local function lines(source)
  local f = load(source, "=c")
  local lines = {}
  for line in pairs(debug.getinfo(f, "L").activelines) do lines[#lines + 1] = line end
  table.sort(lines)
  print(table.concat(lines, " "), select(2, pcall(f)))
end
for _, receiver in ipairs {
  "(a)", "(a or b)", "(f())", "f()", "(...)", "(not a)", "({})", "(function() end)", "(f\n())"
} do
  lines("local a, b, f = ... f = function() end\nx = " .. receiver .. "\n:c()")
end
lines("s = ''\nx = s:rep(0):c\n()")
lines("f = function() end\nx = f()\nor\n1")
lines("x = {\n}\nor\n1")
lines("x = {\n1,\n2\n}\nor\n1")
lines("x = function() end\nor\n1")
lines("x = tostring(1\n< 2\n)")
lines("x = { 1\n< 2\n}")
lines("x = (1\n< 2\n) .. 'x'")
lines("local t = {}\nt.x,\nt\n=\n1,\n2\n")
for _, target in ipairs { "n.a =\n\n{}", "n.a\n=\n1", "n.a, x =\n1,\n2", "x, n.a =\n1,\n2\n" } do
  lines("\n" .. target)
end
lines("function n.a\n(\n)\nend\n")
lines("\nfunction\nn.a\n(\n)\nend\n")
