-- covers: string.format of strings: %s, widths, several at once
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local format = string.format
local sum = 0
for i = 1, 650000 * scale // 1 do
  sum = sum + #format("%s: %s", "name", "value")
    + #format("%-12s|%8s", "left", "right")
    + #format("<%s>%s</%s>", "td", "text " .. i % 10, "td")
end
print(sum)
