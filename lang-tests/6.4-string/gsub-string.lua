-- string.gsub with a replacement string (6.4).
-- expect: ok
--| heLLo	2
--| heLlo	1
--| hello	0
--| hello	0
--| <hello> <world>	2
--| -h-e-l-l-o-	6
--| aabbcc	3
--| bac edf	2
--| %%%	3
--| %1	1
--| a%.b	1
--| ac	1
--| Xbc	1
--| Xaa	1
--| abX	1
--| abcX	1
--| X	1
--| xhxexox	4
--| -a-b-c-	4
--| ab	3
--| 5	1
--| 1.5 1.5	2
--| a3c	1
--| 0a0	2
--| abc	1
--| abc	0

print(("hello"):gsub("l", "L")); print(("hello"):gsub("l", "L", 1))
print(("hello"):gsub("l", "L", 0)); print(("hello"):gsub("x", "y"))
print(("hello world"):gsub("(%w+)", "<%1>")); print(("hello"):gsub("", "-"))
print(("abc"):gsub("%w", "%0%0")); print(("abc def"):gsub("(%w)(%w)", "%2%1"))
print(("100"):gsub("%d", "%%")); print(("x"):gsub("x", "%%1")); print(("a.b"):gsub("%.", "%%."))
print(("abc"):gsub("b", ""))
print(("abc"):gsub("^a", "X")); print(("aaa"):gsub("^a", "X")); print(("abc"):gsub("c$", "X"))
print(("abc"):gsub("$", "X")); print((""):gsub("", "X"))
print(("hello"):gsub("l*", "x")); print(("abc"):gsub(".-", "-")); print((" a b "):gsub("%s*", ""))
print(("x"):gsub("x", 5)); print(("x y"):gsub("%w", 1.5))
print(("abc"):gsub("(b)()", "%2")); print(("\0a\0"):gsub("%z", "0"))
print(("abc"):gsub("b", "%0", 5.0)); print(("abc"):gsub("", "", -1))
