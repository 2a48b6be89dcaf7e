-- string.find: plain, patterns, captures and init (6.4).
-- expect: ok
--| 7	3	nil	1	0
--| 4	4
--| nil
--| 6	5
--| nil
--| 4	3
--| 4	4
--| 1	1
--| 1	0
--| nil
--| nil
--| 2	2
--| 2	2
--| 2	2
--| 2	3
--| 1	11	key	value
--| 3	4	3	5
--| 2	2
--| 4	4
--| 2	2
--| 2	2
--| 2	2
--| 1	nil	5	nil	2	5
--| 2	2	false	bad argument #2 to 'string.find' (string expected, got no value)
--| false	bad argument #2 to 'string.find' (string expected, got table)
--| false	bad argument #3 to 'string.find' (number expected, got string)

print(("hello world"):find("wor"), ("hello"):find("l"), ("hello"):find("xyz"), ("hello"):find(""))
print(("hello"):find("l", 4)); print(("hello"):find("l", 5)); print(("hello"):find("", 6))
print(("hello"):find("", 7)); print(("hello"):find("", -2))
print(("hello"):find("l", -2)); print(("hello"):find("h", -100)); print((""):find(""))
print((""):find("", 2)); print((""):find("x"))
print(("a.b.c"):find(".", 1, true)); print(("a.b.c"):find("%.")); print(("a+b"):find("+", 1, true))
print(("a.b"):find(".b", 2, true))
print(("key = value"):find("(%w+)%s*=%s*(%w+)")); print(("hello"):find("()ll()"))
print(("abc"):find("b", 1, false))
print(("a\0b\0c"):find("\0", 3)); print(("a\0b"):find("%z")); print(("aXb"):find("%u"))
print(("x^y"):find("^", 1, true))
print(("hello"):find("^h"), ("hello"):find("^e"), ("hello"):find("o$"), ("hello"):find("l$"),
  ("hello"):find("^ello", 2))
print(("abc"):find("b", nil), ("123"):find(2), pcall(string.find, "x"))
print(pcall(string.find, "x", {})); print(pcall(string.find, "x", "x", "y"))
