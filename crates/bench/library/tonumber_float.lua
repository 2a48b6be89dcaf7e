-- covers: tonumber of floats, and of what is no number
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local tonumber = tonumber
local texts = { "0.5", "3.14159", "-1e10", "12345.678", "1e-7", "word", "2.718281828459045" }
local sum = 0
for i = 1, 5400000 * scale // 1 do
  sum = sum + (tonumber(texts[i % 7 + 1]) or 1)
end
print(string.format("%.10g", sum))
