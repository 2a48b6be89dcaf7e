-- covers: string.len as a function and as a method
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local len = string.len
local words = { "tycho", "kepler", "copernicus", "" }
local sum = 0
for i = 1, 8400000 * scale // 1 do
  local word = words[i % 4 + 1]
  sum = sum + len(word) + word:len()
end
print(sum)
