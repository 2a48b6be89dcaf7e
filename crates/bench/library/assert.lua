-- covers: assert of what holds, with and without a message
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local assert = assert
local sum = 0
for i = 1, 9800000 * scale // 1 do
  sum = sum + assert(i) + #assert("text", "message")
  assert(i > 0, "never")
end
print(sum)
