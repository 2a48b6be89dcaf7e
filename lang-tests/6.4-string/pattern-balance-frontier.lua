-- %b and %f (6.4.1).
-- expect: ok
--| (a(b)c)	(x)	nil	[[x]]	x then
--| f()	''	'a'
--| 1	the (quick) fox	1	2	1
--| Hello World	a<1b<2	nil	3	2
--| false	malformed pattern (missing arguments to '%b')
--| false	malformed pattern (missing arguments to '%b')
--| false	missing '[' after '%f' in pattern
--| false	missing '[' after '%f' in pattern

print(("f(a(b)c)d"):match("%b()"), ("((x)"):match("%b()"), ("no"):match("%b()"),
  ("[[x]]"):match("%b[]"), ("if x then"):match("%bxn"))
print(("f(a, g(b))"):gsub("%b()", "()"), ("''"):match("%b''"), ("'a'b'"):match("%b''"))
print(("THE (quick) fox"):find("%f[%a]%a+%f[%A]"), ("THE (quick) fox"):gsub("%f[%a]%a+",
  string.lower), ("x"):find("%f[%w]"), ("x"):find("%f[%W]", 2))
print(("hello world"):gsub("%f[%w]%w", string.upper), ("a1b2"):gsub("%f[%d]", "<"),
  (""):find("%f[%z]"), ("ab"):find("%f[\0]"))
print(pcall(string.find, "x", "%b")); print(pcall(string.find, "x", "%bx"))
print(pcall(string.find, "x", "%f")); print(pcall(string.find, "x", "%fx"))
