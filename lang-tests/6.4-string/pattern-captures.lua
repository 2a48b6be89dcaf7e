-- Captures: nested, position and back references (6.4.1).
-- expect: ok
--| h	he	2	abc	bc	c
--| abc	'	<a> <b> cd	2
--| 1	x	1	key	val
--| false	unfinished capture
--| false	invalid pattern capture
--| false	invalid capture index %1
--| false	invalid capture index %1
--| false	invalid capture index %2
--| a	10	a

print(("hello"):match("(h)(e)(l)"), ("hello"):match("((h)(e))"), ("abc"):match("()b()"),
  ("abc"):match("(a(b(c)))"))
print(("abcabc"):match("(abc)%1"), ("'quoted' \"x\""):match("([\"'])(.-)%1"),
  ("aa bb cd"):gsub("(%w)%1", "<%1>"))
print(("x"):match("()"), ("x"):match("(x)()"), (""):match("()"), ("key=val"):match("^(%w+)=(%w*)$"))
print(pcall(string.match, "x", "(x")); print(pcall(string.match, "x", "x)"))
print(pcall(string.match, "x", "%1"))
print(pcall(string.match, "xx", "(x%1)")); print(pcall(string.match, "x", "(x)%2"))
print(("abc"):match("((((((a))))))"), #{ ("abcdefghij"):match("(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)") },
  ("aXa"):match("(a)X%1"))
