-- A numeric loop with an integer sum.
local function loop(n)
  local sum = 0
  for i = 1, n do sum = sum + i end
  return sum
end
for _ = 1, 4 do loop(3) end
