-- Malformed patterns (6.4.1).
-- expect: ok
--| [a	false	malformed pattern (missing ']')
--| [	false	malformed pattern (missing ']')
--| [^	false	malformed pattern (missing ']')
--| []	false	malformed pattern (missing ']')
--| [a-	false	malformed pattern (missing ']')
--| [%	false	malformed pattern (missing ']')
--| [%a	false	malformed pattern (missing ']')
--| %	false	malformed pattern (ends with '%')
--| x%	false	malformed pattern (ends with '%')
--| (	false	unfinished capture
--| (x	false	unfinished capture
--| )	true	nil
--| %1	false	invalid capture index %1
--| (()	false	unfinished capture
--| %b	false	malformed pattern (missing arguments to '%b')
--| %f	false	missing '[' after '%f' in pattern
--| [a]]	true	nil
--| *	true	nil
--| a**	true	nil
--| ^*	true	nil
--| false	invalid capture index %2
--| false	invalid use of '%' in replacement string
--| false	invalid use of '%' in replacement string

for _, p in ipairs({ "[a", "[", "[^", "[]", "[a-", "[%", "[%a", "%", "x%", "(", "(x", ")", "%1",
  "(()", "%b", "%f", "[a]]" , "*", "a**", "^*" }) do
  print(p, pcall(string.find, "x", p))
end
print(pcall(string.gsub, "x", "x", "%2")); print(pcall(string.gsub, "x", "x", "%"))
print(pcall(string.gsub, "x", "x", "%a"))
