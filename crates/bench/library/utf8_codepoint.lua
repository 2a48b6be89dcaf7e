-- covers: utf8.codepoint and utf8.offset
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local codepoint, offset = utf8.codepoint, utf8.offset
local text = ("grüße, мир, 世界! "):rep(8)
local sum = 0
for i = 1, 1800000 * scale // 1 do
  sum = sum + codepoint(text, 1) + codepoint("é") + offset(text, i % 60 + 1)
  if i % 8 == 0 then sum = sum + select("#", codepoint(text, 1, -1)) end
end
print(sum)
