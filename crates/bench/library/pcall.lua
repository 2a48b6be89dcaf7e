-- covers: pcall and xpcall of functions that succeed
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local pcall, xpcall = pcall, xpcall
local function double(x) return x * 2 end
local function handler(message) return message end
local sum = 0
for i = 1, 4600000 * scale // 1 do
  local _, a = pcall(double, i)
  local _, b = xpcall(double, handler, i)
  sum = sum + a + b
end
print(sum)
