-- covers: string.unpack of integers, floats and strings
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local pack, unpack = string.pack, string.unpack
local record = pack("<i4 I2 B d s2 z", -77, 500, 7, 2.5, "counted", "zero")
local sum = 0
for i = 1, 1800000 * scale // 1 do
  local a, b, c, d, e, f = unpack("<i4 I2 B d s2 z", record)
  sum = sum + a + b + c + d + #e + #f + unpack("<i4", record)
end
print(sum)
