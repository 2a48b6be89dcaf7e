-- covers: table.unpack of short and long lists
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local unpack = table.unpack
local three, long = { 1, 2, 3 }, {}
for i = 1, 100 do long[i] = i end
local sum = 0
for i = 1, 2800000 * scale // 1 do
  local a, b, c = unpack(three)
  sum = sum + a + b + c + unpack(long, 50, 54)
  if i % 16 == 0 then sum = sum + select("#", unpack(long)) end
end
print(sum)
