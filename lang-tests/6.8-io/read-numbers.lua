-- Reading numerals (6.8).
-- expect: ok
--| 12	-7	3.5	31	100.0
--| 0.5	5.0	3
--| nil
--| abc 99
--| nil
--|  1e+ - 12a

local name = os.tmpname()
local f = io.open(name, "w"); f:write("12 -7 3.5 0x1F 1e2\n .5 5. +3 abc 99"); f:close()
f = io.open(name)
print(f:read("n", "n", "n", "n", "n")); print(f:read("n", "n", "n")); print(f:read("n"))
print(f:read("l")); f:close()
f = io.open(name, "w"); f:write("0x 1e+ - 12abc " .. ("1"):rep(250)); f:close()
f = io.open(name); print(f:read("n")); print(f:read("a"):sub(1, 10)); f:close()
os.remove(name)
