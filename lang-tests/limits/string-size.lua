-- Strings that would be too long are errors (implementation limit).
-- expect: ok
--| false	resulting string too large
--| false	resulting string too large
--| false	resulting string too large
--| 0	true	true
--| false	invalid conversion specification: '%1000d'
--| false	invalid conversion specification: '%.1000f'
--| 99	101

print(pcall(string.rep, "x", math.maxinteger))
print(pcall(string.rep, "abc", math.maxinteger // 2))
print(pcall(string.rep, "x", math.maxinteger // 2, "y"))
print(#string.rep("", 1000), string.rep("x", -5) == "", string.rep("x", 0) == "")
print(pcall(string.format, "%1000d", 1))
print(pcall(string.format, "%.1000f", 1))
print(#string.format("%99d", 1), #string.format("%.99f", 1))
