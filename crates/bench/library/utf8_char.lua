-- covers: utf8.char of one and of several code points
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local char = utf8.char
local sum = 0
for i = 1, 1200000 * scale // 1 do
  sum = sum + #char(i % 0xD000) + #char(0x4E2D, 0x6587, 65 + i % 26)
end
print(sum)
