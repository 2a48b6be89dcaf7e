-- A loop down to the least integer counts more than 2^63 turns (3.3.5).
-- expect: ok
--| 3	1
--| -3	-1

for i = 3, -math.huge, -1 do
  if i == 1 then print(3, i) break end
end
for i = -3, math.huge do
  if i == -1 then print(-3, i) break end
end
