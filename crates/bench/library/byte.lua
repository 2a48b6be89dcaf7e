-- covers: string.byte of one and of several characters
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local byte = string.byte
local s = ("The quick brown fox jumps over the lazy dog. "):rep(4)
local sum = 0
for _ = 1, 77000 * scale // 1 do
  for i = 1, #s do sum = sum + byte(s, i) end
  local a, b, c, d = byte(s, 5, 8)
  sum = sum + a + b + c + d + s:byte(-1)
end
print(sum)
