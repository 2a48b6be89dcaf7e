-- covers: type of values of all kinds
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local type = type
local values = { 1, "s", {}, print, 2.5, true, coroutine.create(print) }
local sum = 0
for i = 1, 6000000 * scale // 1 do
  local v = values[i % 7 + 1]
  if type(v) == "number" then sum = sum + 1 elseif type(v) == "table" then sum = sum + 2 end
end
print(sum)
