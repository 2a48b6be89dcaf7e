-- warn takes strings only; control messages print nothing (2.3, 6.1).
-- expect: ok
--| false	bad argument #1 to 'warn' (string expected, got no value)
--| false	bad argument #1 to 'warn' (string expected, got table)
--| false	bad argument #2 to 'warn' (string expected, got nil)
--|

print(pcall(warn))
print(pcall(warn, {}))
print(pcall(warn, "a", nil))
warn("@off")
warn("not shown")
warn("@unknown control message")
print(warn("a", 1, "b"))
