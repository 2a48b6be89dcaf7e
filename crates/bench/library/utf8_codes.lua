-- covers: utf8.codes over short and long strings
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local text = ("grüße, мир, 世界! "):rep(40)
local sum = 0
for _ = 1, 27000 * scale // 1 do
  for at, code in utf8.codes(text) do sum = sum + at + code end
end
print(sum)
