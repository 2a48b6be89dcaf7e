-- A loop that calls a method of strings looks the method up and compares it before the loop.
local function bytes(s)
  local sum = 0
  for i = 1, #s do sum = sum + s:byte(i) end
  return sum
end
for _ = 1, 4 do bytes("some text") end
