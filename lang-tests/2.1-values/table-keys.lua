-- Any value but nil and NaN indexes a table; float keys with integral values are normalized (2.1).
-- expect: ok
--| one	two	big	string	true	zero	nil
--| 3	integer	x
--| 3.5	float
--| false	table-keys.lua:19: table index is nil
--| false	table-keys.lua:20: table index is NaN
--| nil	nil
--| false	table index is nil
--| false	table index is NaN
--| nil	nil	2
--| huge	inf	-inf

local t = {}
t[1] = "one"; t[2.0] = "two"; t[2^53] = "big"; t["1"] = "string"; t[true] = "true"; t[-0.0] = "zero"
print(t[1.0], t[2], t[2^53 | 0], t["1"], t[true], t[0], t[false])
for k, v in pairs({ [3.0] = "x" }) do print(k, math.type(k), v) end
for k in pairs({ [3.5] = "x" }) do print(k, math.type(k)) end
print(pcall(function() t[nil] = 1 end))
print(pcall(function() t[0/0] = 1 end))
print(t[nil], t[0/0])
print(pcall(rawset, t, nil, 1))
print(pcall(rawset, t, 0/0, 1))
t[1] = nil
print(t[1], next({}), rawlen(t))
t[1e300] = "huge"; t[math.huge] = "inf"; t[-math.huge] = "-inf"
print(t[1e300], t[math.huge], t[-math.huge])
