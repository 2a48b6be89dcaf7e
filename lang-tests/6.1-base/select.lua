-- select from the front, from the back, and counting (6.1).
-- expect: ok
--| a	b	c
--| b	c
--|
--| c
--| a	b	c
--| 0	1	2	3
--| b	b
--| false	bad argument #1 to 'select' (index out of range)
--| false	bad argument #1 to 'select' (index out of range)
--| false	bad argument #1 to 'select' (number expected, got no value)
--| false	bad argument #1 to 'select' (number expected, got string)
--| false	bad argument #1 to 'select' (number expected, got table)
--| false	bad argument #1 to 'select' (number has no integer representation)
--| 2	true

print(select(1, "a", "b", "c")); print(select(2, "a", "b", "c")); print(select(4, "a", "b", "c"))
print(select(-1, "a", "b", "c")); print(select(-3, "a", "b", "c"))
print(select("#"), select("#", nil), select("#", nil, nil), select("#", 1, 2, 3))
print((select(2, "a", "b", "c")), select("2", "a", "b"))
print(pcall(select, 0, "a"))
print(pcall(select, -2, "a"))
print(pcall(select))
print(pcall(select, "x"))
print(pcall(select, {}))
print(pcall(select, 1.5, "a"))
print(select("#", select(2, 1, nil, nil)), select(100, 1) == nil)
