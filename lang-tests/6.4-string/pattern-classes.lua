-- The character classes of patterns (6.4.1).
-- expect: ok
--| %a	2	10
--| %c	4	8
--| %d	1	11
--| %g	6	6
--| %l	1	11
--| %p	3	9
--| %s	3	9
--| %u	1	11
--| %w	3	9
--| %x	2	10
--| .	12	
--| abc	123	a-z	]	^	a^
--| x-	x-	[	5%	foo.bar	nil
--| hello	e	true	true
--| %d	x	a.b	1+1

local text = "aZ5 _-.\t\n\0\x7f\xe9"
for _, class in ipairs({ "%a", "%c", "%d", "%g", "%l", "%p", "%s", "%u", "%w", "%x", "." }) do
  local n, m = select(2, text:gsub(class, "")), select(2, text:gsub(class:upper(), ""))
  print(class, n, class ~= "." and m or "")
end
print(("abc123"):match("[a-c]+"), ("abc123"):match("[^a-c]+"), ("a-z"):match("[a%-z]+"),
  ("]x"):match("[]]"), ("^"):match("[%^]"), ("a^"):match("[a^]+"))
print(("x-y"):match("[x-]+"), ("x-y"):match("[-x]+"), ("[a]"):match("[[]"), ("5%"):match("[%d%%]+"),
  ("foo.bar"):match("[%w.]+"), ("]]"):match("[^]]"))
print(("hello"):match("[%a]+"), ("HeLLo"):match("[%l]+"), ("a\0b"):match("[%z]") == "\0",
  ("\xff\xfe"):match("[\xf0-\xff]+") == "\xff\xfe")
print(("%d"):match("%%d"), ("(x)"):match("%((.)%)"), ("a.b"):match("a%.b"), ("1+1"):match("%d%+%d"))
