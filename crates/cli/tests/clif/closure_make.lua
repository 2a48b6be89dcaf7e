-- A closure with a captured variable and an upvalue of its maker.
local made = 0
local function make(n)
  return function() return n + made end
end
for i = 1, 4 do make(i) end
