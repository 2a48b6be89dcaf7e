-- covers: utf8.len, of ASCII text too
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local len = utf8.len
local mixed, ascii = ("grüße, мир, 世界! "):rep(10), ("plain ascii text "):rep(10)
local sum = 0
for i = 1, 480000 * scale // 1 do
  sum = sum + len(mixed) + len(ascii) + len("word") + (len("\xff") or 0)
end
print(sum)
