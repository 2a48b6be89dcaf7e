-- Patterns that need too much recursion are errors (6.4.1, implementation limit).
-- expect: ok
--| false	pattern too complex
--| false	pattern too complex
--| 50000
--| 50000	nil
--| false	too many captures
--| 34

print(pcall(string.find, ("a"):rep(1000), (".?"):rep(1000) .. "b"))
print(pcall(string.match, ("x"):rep(500), ("x?"):rep(500)))
print(#("a"):rep(50000):match(".-b?$"))
print(#("a"):rep(50000):match("a*"), ("a"):rep(1000):find(".-b"))
print(pcall(string.find, "x", ("("):rep(33) .. "x" .. (")"):rep(33)))
print(select("#", ("x"):find(("("):rep(32) .. "x" .. (")"):rep(32))))
