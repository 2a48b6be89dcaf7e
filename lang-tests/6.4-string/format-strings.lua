-- string.format with %s, %q and %% (6.4).
-- expect: ok
--| a 1 true	       abc|abc       |ab|    a|	nil	100%	T
--| "a \"quoted\"\
--| \\ string\0\0131\9"	10	9223372036854775807	0x8000000000000000	0x1.5555555555555p-2	true	nil	1e9999	-1e9999	0x1.249ad2594c37dp+332	0x1p+1
--| "\1\0022È"	"\0001"	true	true
--| false	bad argument #2 to 'string.format' (value has no literal form)
--| false	specifier '%q' cannot have modifiers
--| false	bad argument #2 to 'string.format' (no value)
--| false	invalid conversion '%y' to 'format'
--| false	invalid conversion '%' to 'format'
--| false	invalid conversion '%10' to 'format'
--| false	bad argument #1 to 'string.format' (string expected, got no value)
--| false	bad argument #1 to 'string.format' (string expected, got table)
--| true	1000	false	bad argument #2 to 'string.format' (string contains zeros)
--| no directives		1	ab      cd	|	short
--| true	1
--| (null)	false	true	3|   ab|%

local f = string.format
print(f("%s %s %s", "a", 1, true), f("%10s|%-10s|%.2s|%5.1s|", "abc", "abc", "abc", "abc"),
  f("%s", nil), f("100%%"), f("%s", setmetatable({}, { __tostring = function() return "T" end })))
print(f("%q", 'a "quoted"\n\\ string\0\r1\t'), f("%q", 10), f("%q", 0x7fffffffffffffff),
  f("%q", math.mininteger), f("%q", 1/3), f("%q", true), f("%q", nil), f("%q", 1/0), f("%q", -1/0),
  f("%q", 1e100), f("%q", 2.0))
print(f("%q", "\1\0022\200"), f("%q", "\0001"),
  load("return " .. f("%q", "\0\1\n\"\\\200x"))() == "\0\1\n\"\\\200x",
  load("return " .. f("%q", 0.1))() == 0.1)
print(pcall(f, "%q", {})); print(pcall(f, "%10q", "x")); print(pcall(f, "%s"))
print(pcall(f, "%y", 1)); print(pcall(f, "%", 1)); print(pcall(f, "%10", 1)); print(pcall(f))
print(pcall(f, {}))
print(f("%s", "a\0b") == "a\0b", #f("%s", ("x"):rep(1000)), pcall(f, "%5s", "a\0b"))
print(f("no directives"), f("", 1, 2), f("%d", 1, 2, 3), f("%-5s%5s", "ab", "cd"),
  f("%.0s|", "abc"), f("%.20s", "short"))
print(pcall(f, "%s", setmetatable({}, { __tostring = function() return 1 end })))
print(f("%p", 1), (function(a, b)
  return f("%p", a) == f("%p", b)
end)({}, {}), #f("%p", print) > 2, f("%i|%5.2s|%%", 3, "abc"))
