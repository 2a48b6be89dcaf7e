-- string.rep, reverse, lower, upper and len (6.4).
-- expect: ok
--| ababab	true	true	ab	ab, ab, ab	true	xx
--| olleh	true	98	0	97
--| HELLO WORLD 123	hello world 123	233
--| 3	0	3
--| false	bad argument #1 to 'string.rep' (string expected, got no value)
--| false	bad argument #2 to 'string.rep' (number expected, got no value)
--| false	bad argument #3 to 'string.rep' (string expected, got table)
--| false	bad argument #1 to 'string.reverse' (string expected, got no value)
--| false	bad argument #1 to 'string.upper' (string expected, got no value)
--| false	bad argument #1 to 'string.len' (string expected, got no value)
--| 2998	120	0	120	0	120

print(("ab"):rep(3), ("ab"):rep(0) == "", ("ab"):rep(-1) == "", ("ab"):rep(1, "-"),
  ("ab"):rep(3, ", "), (""):rep(10) == "", (""):rep(3, "x"))
print(("hello"):reverse(), (""):reverse() == "", ("a\0b"):reverse():byte(1, -1))
print(("Hello World 123"):upper(), ("Hello World 123"):lower(), ("\xe9"):upper():byte())
print(("abc"):len(), #"", ("a\0b"):len())
print(pcall(string.rep)); print(pcall(string.rep, "x")); print(pcall(string.rep, "x", 1, {}))
print(pcall(string.reverse)); print(pcall(string.upper)); print(pcall(string.len))
print(#("x"):rep(1000, ", "), ("x"):rep(3, "\0"):byte(1, -1))
