-- utf8.char, codepoint, len, offset and codes (6.5).
-- expect: ok
--| 4	10	97	233	8364	128512
--| true	true	0
--| 1:97 2:233 4:8364 7:128512 
--| 1	2	4	7	11	nil	7	2
--| 1 2 3 4 
--| nil	nil	0	3	1	0
--| true	false	invalid UTF-8 code
--| false	invalid UTF-8 code
--| false	bad argument #1 to 'utf8.char' (value out of range)
--| false	initial position is a continuation byte
--| false	basics.lua:26: invalid UTF-8 code
--| 1	nil	1
local s = "aé€😀"
print(utf8.len(s), #s, utf8.codepoint(s, 1, -1))
print(utf8.char(97, 233, 0x20AC, 0x1F600) == s, utf8.char() == "", utf8.char(0):byte())
for p, c in utf8.codes(s) do io.write(p, ":", c, " ") end print()
print(utf8.offset(s, 1), utf8.offset(s, 2), utf8.offset(s, 3), utf8.offset(s, 4), utf8.offset(s, 5),
  utf8.offset(s, 6), utf8.offset(s, -1), utf8.offset(s, 0, 3))
for c in s:gmatch(utf8.charpattern) do io.write(#c, " ") end print()
print(utf8.len("\xff"), utf8.len("abc\xe4"), utf8.len("", 1), utf8.len(s, 2), utf8.len(s, -4),
  utf8.len(s, 4, 3))
print(pcall(utf8.len, s, 3) , pcall(utf8.codepoint, "\xff")); print(pcall(utf8.codepoint, s, 10))
print(pcall(utf8.char, -1)); print(pcall(utf8.offset, s, 1, 3))
print(pcall(function() for _ in utf8.codes("a\xffb") do end end))
print(utf8.len("\u{D800}", 1, -1, true), utf8.len("\u{D800}"), utf8.len("\u{7FFFFFFF}", 1, -1,
  true))
