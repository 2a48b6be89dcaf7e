-- covers: string.pack of integers, floats and strings
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local pack = string.pack
local sum = 0
for i = 1, 1300000 * scale // 1 do
  sum = sum + #pack("<i4", i) + #pack(">I2 B d", i % 65536, i % 256, i / 2) + #pack("<s2", "record")
end
print(sum)
