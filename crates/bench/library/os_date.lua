-- covers: os.date with formats and as a table
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local date = os.date
local sum = 0
for i = 1, 370000 * scale // 1 do
  local t = 1700000000 + i * 3600
  sum = sum + #date("!%Y-%m-%dT%H:%M:%S", t) + date("!*t", t).yday + #date("%A, %d %B %Y", t)
end
print(sum)
