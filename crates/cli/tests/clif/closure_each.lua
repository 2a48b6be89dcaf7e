-- The loop of `each` carries the variable that the closure changes; it stores, but does not load.
local function over(items, f) for i = 1, #items do f(items[i]) end end
local function each(items)
  local most = 0
  over(items, function(x) if x > most then most = x end end)
  return most
end
local items = { 3, 1, 4, 1, 5 }
for _ = 1, 4 do over(items, function() end) end
for _ = 1, 6 do each(items) end
