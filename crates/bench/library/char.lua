-- covers: string.char of one and of several codes
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local char = string.char
local sum = 0
for i = 1, 3600000 * scale // 1 do
  sum = sum + #char(i % 256) + #char(76, 117, 97, 48 + i % 10)
end
print(sum)
