-- Repetition: greedy, lazy and optional (6.4.1).
-- expect: ok
--| aaa	aaa		a	true
--| <a><b>	<a>	nil	X X	2
--| trim me|	x	1	y	2
--| abc	abcabc	ac	nil	aab	abbb
--| 2024	-12.5e3
--| 2	aXb	a	bXc
--| a*b	x?	[]	a$b	a^b	*a

print(("aaa"):match("a*"), ("aaa"):match("a+"), ("aaa"):match("a-"), ("aaa"):match("a?"),
  ("baaa"):match("a*") == "")
print(("<a><b>"):match("<.*>"), ("<a><b>"):match("<.->"), ("<>"):match("<.+>"),
  ("color colour"):gsub("colou?r", "X"))
print(("   trim me  "):match("^%s*(.-)%s*$") .. "|", ("x=1, y=2"):match("(%w+)=(%w+), (%w+)=(%w+)"))
print(("abc"):match("a.-c"), ("abcabc"):match("a.*c"), ("ac"):match("ab*c"), ("ac"):match("ab+c"),
  ("aab"):match("a-b"), ("abbb"):match("ab-$"))
print(("2024-01-15"):match("(%d+)-(%d+)-(%d+)"), ("-12.5e3"):match("^[+-]?%d+%.?%d*[eE]?[+-]?%d*$"))
print(("aaa"):find("a-", 2), ("aXbXc"):match("(.*)X(.*)"), ("aXbXc"):match("(.-)X(.*)"))
print(("a*b"):match("a%*b"), ("x?"):match("x%?"), ("[]"):match("%[%]"), ("a$b"):match("a$b"),
  ("a^b"):match("a^b"), ("*a"):match("*a"))
