-- covers: string.format of integers: %d, widths, hexadecimal
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local format = string.format
local sum = 0
for i = 1, 600000 * scale // 1 do
  sum = sum + #format("%d", i) + #format("%5d|%-8d", i, -i)
    + #format("%03d:%02d", i % 1000, i % 60) + #format("%x", i)
end
print(sum)
