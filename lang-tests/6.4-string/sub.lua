-- string.sub with positive, negative and out-of-range positions (6.4).
-- expect: ok
--| hel	ello	llo	ll	ell	l
--| hello	hello	hello	true	true	true	true
--| hello	true	true
--| 	a	ell	41
--| h.h e.he l.hel l.hell o.hello 
--| false	bad argument #1 to 'string.sub' (string expected, got no value)
--| false	bad argument #2 to 'string.sub' (number expected, got no value)
--| false	bad argument #2 to 'string.sub' (number expected, got table)
--| false	bad argument #3 to 'string.sub' (number has no integer representation)

local s = "hello"
print(s:sub(1, 3), s:sub(2), s:sub(-3), s:sub(-3, -2), s:sub(2, -2), s:sub(3, 3))
print(s:sub(0), s:sub(-100), s:sub(1, 100), s:sub(4, 2) == "", s:sub(10) == "", s:sub(-1, 1) == "",
  s:sub(0, 0) == "")
print(s:sub(math.mininteger, math.maxinteger), s:sub(math.maxinteger) == "",
  s:sub(1, math.mininteger) == "")
print((""):sub(1), ("\0a\0"):sub(2, 2), s:sub(2.0, "4"), #("x"):rep(100):sub(-41))
for i = 1, #s do io.write(s:sub(i, i), ".", s:sub(1, i), " ") end
print()
print(pcall(string.sub)); print(pcall(string.sub, "x")); print(pcall(string.sub, "x", {}))
print(pcall(string.sub, "x", 1, 1.5))
