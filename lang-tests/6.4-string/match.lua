-- string.match and its init (6.4).
-- expect: ok
--| hello	world	ll	nil	nil
--| k	20	c		nil	b
--| 34	45
--| false	bad argument #1 to 'string.match' (string expected, got no value)
--| false	bad argument #2 to 'string.match' (string expected, got no value)
--| line1	true	true
--| 3	three	nil	true

print(("hello world"):match("%w+"), ("hello world"):match("%w+", 6), ("hello"):match("l+", 3),
  ("hello"):match("h", 2), ("x"):match("y"))
print(("k=v"):match("(%w)=(%w)"), ("2024"):match("%d%d"), ("abc"):match(".", -1),
  ("abc"):match("", 4), ("abc"):match("", 5), ("abc"):match("^b", 2))
print(("123456"):match("34"), string.match(123456, "45")); print(pcall(string.match))
print(pcall(string.match, "x"))
print(("line1\nline2"):match("^(.-)\n(.*)$"), ("\0\1\2"):match("\1") == "\1",
  ("a\0b"):match("a%zb") == "a\0b")
local t = { ("one two three"):match("(%w+) (%w+) (%w+)") }
print(#t, t[3], ("  x"):match("^%s*$"), (" \t\n"):match("^%s*$") ~= nil)
