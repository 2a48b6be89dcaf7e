-- covers: string.rep of characters and words, short and long
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local rep = string.rep
local sum = 0
for i = 1, 940000 * scale // 1 do
  sum = sum + #rep(" ", i % 40) + #rep("ab", 10) + #rep("x", 5, ",")
  if i % 16 == 0 then sum = sum + #rep("line\n", 500) end
end
print(sum)
