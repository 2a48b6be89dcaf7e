-- Integer keys move between the array part and the hash part without loss.
-- expect: ok
--| 64	2080
--| 4	abcd
--| 40	-1	20	40
--| nil	string	2.5	1.5	8
--| 4	5.5	six	4.5	5	true	integer
--| 3	zero	minus	far	min
--| 1	10	1	10

local t = {}
for i = 64, 1, -1 do t[i] = i end
local s = 0
for i, v in ipairs(t) do s = s + v end
print(#t, s)
local u = { [1] = "a", [2] = "b", [4] = "d" }; u[3] = "c"
print(#u, table.concat(u))
local w = {}
for i = 1, 20 do w[i * 2] = i end
for i = 1, 20 do w[i * 2 - 1] = -i end
print(#w, w[1], w[40], select("#", table.unpack(w)))
local m = { 1, 2, 3, 1.5, "x", {}, nil, 8 }
m[2] = "string"; m[3] = 2.5; m[1] = nil
print(m[1], m[2], m[3], m[4], m[8])
local ints, floats = {}, {}
for i = 1, 10 do ints[i] = i; floats[i] = i + 0.5 end
ints[5] = 5.5; floats[5] = 5; ints[6] = "six"; floats[6] = true
print(ints[4], ints[5], ints[6], floats[4], floats[5], floats[6], math.type(floats[5]))
local z = { 10, 20, 30 }; z[0] = "zero"; z[-1] = "minus"; z[1e15] = "far"
z[math.mininteger] = "min"
print(#z, z[0], z[-1], z[10^15], z[math.mininteger])
for k in pairs(z) do if k ~= 1 then z[k] = nil end end
print(#z, z[1], next(z))
