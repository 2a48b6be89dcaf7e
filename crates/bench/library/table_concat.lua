-- covers: table.concat of short lists and long ones, of numbers too
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local concat = table.concat
local short, long, numbers = { "a", "list", "of", "words" }, {}, {}
for i = 1, 1000 do long[i] = "line " .. i; numbers[i] = i * 3 end
local sum = 0
for i = 1, 240000 * scale // 1 do
  sum = sum + #concat(short, ", ")
  if i % 100 == 0 then sum = sum + #concat(long, "\n") + #concat(numbers, ",") + #concat(long) end
end
print(sum)
