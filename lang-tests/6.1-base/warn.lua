-- warn (6.1). What it writes goes to the standard error.
-- expect: ok
--| nil	nil	nil	0
--| false	bad argument #1 to 'warn' (string expected, got no value)
--| false	bad argument #1 to 'warn' (string expected, got nil)
--| false	bad argument #2 to 'warn' (string expected, got table)
--| false	bad argument #4 to 'warn' (string expected, got nil)
--|

print(warn("@on"), warn("@off"), warn("@unknown control"), select("#", warn("@off")))
print(pcall(warn)); print(pcall(warn, nil)); print(pcall(warn, "a", {}))
print(pcall(warn, "a", "b", 3, nil)); print(warn("off: ", "not seen ", 1, 2.5))
