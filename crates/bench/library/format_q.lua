-- covers: string.format with %q, of strings and numbers
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local format = string.format
local sum = 0
for i = 1, 600000 * scale // 1 do
  sum = sum + #format("%q", "a \"quoted\" line\n and a zero \0 at " .. i % 100)
    + #format("%q", i) + #format("%q", i / 8)
end
print(sum)
