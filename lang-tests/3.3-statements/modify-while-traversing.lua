-- Fields may be changed and cleared during next (6.1).
-- expect: ok
--| 100	nil
--| 420
--| 10	10
--| nil

local t = {}
for i = 1, 50 do t["k" .. i] = i end
for i = 1, 50 do t[i] = i end
local n = 0
for k, v in pairs(t) do
  n = n + 1
  t[k] = nil
end
print(n, next(t))
for i = 1, 20 do t[i] = i end
for k, v in pairs(t) do t[k] = v * 2 end
local sum = 0
for k, v in pairs(t) do sum = sum + v end
print(sum)
local removed = 0
for k, v in pairs(t) do if v % 4 == 0 then t[k] = nil; removed = removed + 1 end end
n = 0
for _ in pairs(t) do n = n + 1 end
print(removed, n)
for k in pairs(t) do t[k] = nil; collectgarbage() end
print(next(t))
