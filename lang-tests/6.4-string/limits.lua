-- How large results of string functions may be, and how deep patterns (6.4).
-- expect: ok
--| false	resulting string too large
--| false	resulting string too large
--| false	resulting string too large
--| 1	true	false	resulting string too large
--| 2000000	2999999	nil	1000001	100000
--| true	200	false	stack overflow (string slice too long)
--| true	1	199
--| false	pattern too complex
--| false	too many captures
--| 34
--| false	too many captures
--| false	too many captures
--| false	pattern too complex
--| 300000	300000	200000
--| false	invalid conversion specification: '%100d'
--| false	invalid conversion specification: '%.100f'
--| false	invalid format (too long)
--| true	1
--| 99	401	106	99	1000000	600
--| false	bad argument #3 to 'string.format' (no value)
--| false	invalid conversion '%5' to 'format'
--| false	invalid conversion specification: '%1.1.1d'
--| false	invalid conversion specification: '%-+ #0d'
--| false	invalid conversion '%Ã' to 'format'
--| false	invalid conversion '%' to 'format'
--| false	invalid conversion '%l' to 'format'
--| true	xxxxxxxxxx
--| 10000000	1000000	5	100

print(pcall(string.rep, "x", 1 << 60)); print(pcall(string.rep, "x", math.maxinteger))
print(pcall(string.rep, "abc", math.maxinteger // 3, "d"))
print(#("x"):rep(1, ("y"):rep(100)), ("x"):rep(math.mininteger) == "",
  pcall(string.rep, "x", 1 << 62, ""))
print(#("ab"):rep(1e6), #("ab"):rep(1e6, "c"), ("ab"):rep(1e5):find("c"),
  (("a"):rep(1e6) .. "b"):find("b", 1, true), select(2, ("a"):rep(1e5):gsub("a", "bb")))
print(pcall(string.char, ("x"):rep(100):byte(1, -1)) == true,
  #string.char(("x"):rep(200):byte(1, -1)), pcall(string.byte, ("x"):rep(1e7), 1, -1))
print(pcall(string.find, ("a"):rep(300), ("a?"):rep(199)))
print(pcall(string.find, ("a"):rep(300), ("a?"):rep(200)))
print(pcall(string.find, "a", ("("):rep(33) .. "a" .. (")"):rep(33)))
print(select("#", string.find("a", ("("):rep(32) .. "a" .. (")"):rep(32))))
print(pcall(string.match, "a", ("()"):rep(33)))
print(pcall(string.gsub, ("a"):rep(250), ("(a)"):rep(33), ""))
print(pcall(string.match, ("x"):rep(220000), (".-"):rep(250) .. "b"))
print(#(("a"):rep(3e5)):match("^(a*)$"), #(("a"):rep(3e5)):match(".-$"),
  #(("("):rep(1e5) .. (")"):rep(1e5)):match("%b()"))
local f = string.format
print(pcall(f, "%100d", 1)); print(pcall(f, "%.100f", 1))
print(pcall(f, "%0000000000000000000000d", 1)); print(pcall(f, "%0000000000000000000d", 1))
print(#f("%99d", 1), #f("%99.99f", 1e300), #f("%.99a", 1), #f("%-99s", "x"),
  #f("%s", ("x"):rep(1e6)), #f(("%s"):rep(200), table.unpack({}, 1, 200)))
print(pcall(f, ("%d"):rep(300), 1)); print(pcall(f, "%5", 1)); print(pcall(f, "%1.1.1d", 1))
print(pcall(f, "%-+ #0d", 1)); print(pcall(f, "%Ã©", 1)); print(pcall(f, "%\0", 1))
print(pcall(f, "%lld", 1))
print(pcall(table.concat, { ("x"):rep(10) }, ("y"):rep(10), 1, 1))
print(#("x"):rep(1e7):upper(), #("x"):rep(1e6):reverse(), ("\0"):rep(5):len(),
  ("x"):rep(100):sub(math.mininteger, math.maxinteger):len())
