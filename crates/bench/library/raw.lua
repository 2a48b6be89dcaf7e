-- covers: rawget, rawset, rawequal and rawlen
-- needs: 5.4

local scale = tonumber(arg and arg[1]) or 1
local rawget, rawset, rawequal, rawlen = rawget, rawset, rawequal, rawlen
local t = setmetatable({ 1, 2, 3 }, { __index = function() return 0 end, __newindex = error })
local sum = 0
for i = 1, 3400000 * scale // 1 do
  rawset(t, "x", i)
  sum = sum + rawget(t, "x") + rawlen(t) + rawget(t, 2)
  if rawequal(t, t) then sum = sum + 1 end
end
print(sum)
