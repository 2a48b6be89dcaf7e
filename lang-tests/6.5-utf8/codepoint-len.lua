-- utf8.codepoint and utf8.len: ranges, invalid bytes and lax mode (6.5).
-- expect: ok
--| 97	228	97	228	8364	128512	122
--| 122
--| 228	8364
--| 0	0	false	bad argument #3 to 'utf8.codepoint' (out of bounds)
--| false	bad argument #2 to 'utf8.codepoint' (out of bounds)
--| false	bad argument #2 to 'utf8.codepoint' (out of bounds)
--| false	invalid UTF-8 code
--| false	bad argument #3 to 'utf8.codepoint' (out of bounds)
--| 0
--| 5	4	nil	1	0	0	0	2	2	0
--| false	bad argument #2 to 'utf8.len' (initial position out of bounds)
--| false	bad argument #2 to 'utf8.len' (initial position out of bounds)
--| false	bad argument #3 to 'utf8.len' (final position out of bounds)
--| 1
--| false	bad argument #2 to 'utf8.len' (initial position out of bounds)
--| 0
--| 80	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| bf	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| c080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| c1bf	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| c2	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| c261	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| e08080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| e09fbf	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| e282	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| eda080	nil	3	1	invalid UTF-8 code	55296
--| edbfbf	nil	3	1	invalid UTF-8 code	57343
--| f0808080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| f08fbfbf	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| f4908080	nil	3	1	invalid UTF-8 code	1114112
--| f7bfbfbf	nil	3	1	invalid UTF-8 code	2097151
--| f888808080	nil	3	1	invalid UTF-8 code	2097152
--| fbbfbfbfbf	nil	3	1	invalid UTF-8 code	67108863
--| fc8480808080	nil	3	1	invalid UTF-8 code	67108864
--| fdbfbfbfbfbf	nil	3	1	invalid UTF-8 code	2147483647
--| fe	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| ff	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| fe808080808080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| f880808080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| fc8080808080	nil	3	nil	invalid UTF-8 code	invalid UTF-8 code
--| 2	2147483647	2	1000	5
--| false	stack overflow (string slice too long)

local s = "aä€😀z"
print(utf8.codepoint(s), utf8.codepoint(s, 2), utf8.codepoint(s, 1, -1))
print(utf8.codepoint(s, -1)); print(utf8.codepoint(s, 3 - 1, 4))
print(select("#", utf8.codepoint(s, 3, 2)), select("#", utf8.codepoint(s, #s + 1, #s)),
  pcall(utf8.codepoint, s, 1, #s + 1))
print(pcall(utf8.codepoint, s, 0)); print(pcall(utf8.codepoint, s, -100))
print(pcall(utf8.codepoint, s, 3)); print(pcall(utf8.codepoint, ""))
print(select("#", utf8.codepoint("", 1, 0)))
print(utf8.len(s), utf8.len(s, 2), utf8.len(s, 3), utf8.len(s, -1), utf8.len(s, #s + 1),
  utf8.len("", 1), utf8.len(s, 2, 1), utf8.len(s, 1, 2), utf8.len(s, 1, 3), utf8.len(s, 1, 0))
print(pcall(utf8.len, s, #s + 2)); print(pcall(utf8.len, s, 0))
print(pcall(utf8.len, s, 1, #s + 1)); print(utf8.len(s, -100 + 99)); print(pcall(utf8.len, s, -100))
print(utf8.len(s, 1, -100))
local wrong = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2a", "\xe0\x80\x80",
  "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80",
  "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf7\xbf\xbf\xbf", "\xf8\x88\x80\x80\x80",
  "\xfb\xbf\xbf\xbf\xbf", "\xfc\x84\x80\x80\x80\x80", "\xfd\xbf\xbf\xbf\xbf\xbf", "\xfe", "\xff",
  "\xfe\x80\x80\x80\x80\x80\x80", "\xf8\x80\x80\x80\x80", "\xfc\x80\x80\x80\x80\x80" }
for _, w in ipairs(wrong) do
  local name = w:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  print(name, utf8.len(w), (select(2, utf8.len("ab" .. w .. "c"))), utf8.len(w, 1, -1, true),
    select(2, pcall(utf8.codepoint, w)), select(2, pcall(utf8.codepoint, w, 1, 1, true)))
end
print(utf8.len("\u{10FFFF}\u{7FFFFFFF}", 1, -1, true), utf8.codepoint("\u{7FFFFFFF}", 1, 1, true),
  utf8.len("\0\0"), utf8.len(("€"):rep(1000)), utf8.len(12345))
print(pcall(utf8.codepoint, ("x"):rep(1e7), 1, -1))
