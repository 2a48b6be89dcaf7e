-- A closure that is used after the variable that it shares was closed is allocated: the register of
-- the variable has another use then.
local function closed(items)
  local add
  do
    local sum = 10
    add = function(x) sum = sum + x; return sum end
  end
  local last = 0
  for i = 1, #items do last = add(items[i]) end
  return last
end
local items = { 3, 1, 4 }
for _ = 1, 20 do closed(items) end
