-- covers: os.time with and without a table, os.clock and difftime
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local time, clock, difftime = os.time, os.clock, os.difftime
local base, sum = time({ year = 2026, month = 11, day = 21, hour = 12 }), 0
for i = 1, 110000 * scale // 1 do
  local t = time({ year = 2026, month = 1 + i % 12, day = i % 400, hour = 12 })
  sum = sum + difftime(t, base)
  if time() < 0 or clock() < 0 then sum = sum + 1 end
end
print(sum)
