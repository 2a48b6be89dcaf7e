-- The main chunk is a vararg function; arg holds the command line (3.3.2, 7).
-- args: first second 3
-- expect: ok
--| first	second	3
--| 3	3	nil
--| script-arguments.lua	first	second	3	nil	3
--| second	first

print(...)
print(select("#", ...), (select(3, ...)), math.type((select(3, ...))))
print(arg[0], arg[1], arg[2], arg[3], arg[4], #arg)
local a, b = ...
print(b, a)
