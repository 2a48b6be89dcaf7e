-- covers: tonumber of integers, in bases too
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local tonumber = tonumber
local texts = { "0", "42", "-17", "1234567", " 99 ", "0xff", "9223372036854775807" }
local sum = 0
for i = 1, 5400000 * scale // 1 do
  sum = sum + tonumber(texts[i % 7 + 1]) % 1000 + tonumber("7f", 16)
end
print(sum)
