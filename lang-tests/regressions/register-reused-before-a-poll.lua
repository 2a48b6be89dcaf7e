-- A table that was made in a register which a loop uses later: the loop stores its own registers
-- when there is something to poll (3.3.5).
-- expect: ok
--| 30	0	40
local function run(last)
  local n, length, t = 0, 0, nil
  for i = 1, last do
    t = {}
    for j = 1, 40 do t[#t + 1] = j end
    length = #t
    for j = #t, 1, -1 do t[j] = nil end
    n = n + 1
    t[#t + 1] = string.rep("x", 5000) .. i
    t[1] = nil
  end
  return n, #t, length
end
for _ = 1, 6 do run(30) end
print(run(30))
