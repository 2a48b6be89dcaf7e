-- covers: math.fmod of floats and integers
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local fmod = math.fmod
local sum = 0
for i = 1, 4200000 * scale // 1 do
  sum = sum + fmod(i * 0.5, 7.25) + fmod(-i, 13)
end
print(sum)
