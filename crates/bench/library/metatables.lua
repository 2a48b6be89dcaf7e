-- covers: setmetatable and getmetatable
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local setmetatable, getmetatable = setmetatable, getmetatable
local class = { __index = { kind = 3 } }
local sum = 0
for i = 1, 3300000 * scale // 1 do
  local object = setmetatable({ x = i }, class)
  if getmetatable(object) == class then sum = sum + object.kind end
end
print(sum, getmetatable("").__index == string)
