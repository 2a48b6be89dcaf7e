-- A table that grows, shrinks and is refilled keeps its contents (2.1).
-- expect: ok
--| 600	0	1	300	-1	-300
--| 450	nil	2	nil	300
--| 2	4	598	600
--| nil

local t = {}
for i = 1, 300 do t["k" .. i] = i; t[i * 1.5] = -i end
local sum, n = 0, 0
for k, v in pairs(t) do sum = sum + v; n = n + 1 end
print(n, sum, t.k1, t.k300, t[1.5], t[450])
for i = 1, 300, 2 do t["k" .. i] = nil end
n = 0
for k, v in pairs(t) do n = n + 1 end
print(n, t.k1, t.k2, t.k299, t.k300)
for i = 1, 300 do t["k" .. i] = i * 2 end
print(t.k1, t.k2, t.k299, t.k300)
for k in pairs(t) do t[k] = nil end
print(next(t))
