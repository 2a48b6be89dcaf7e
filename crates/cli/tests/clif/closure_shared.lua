-- Closures that are not allocated: one is a local variable, and one is made in each iteration of a
-- loop, which closes the variable that it shares. Both variables are block parameters. The closure
-- that is returned is allocated, and keeps its variable in memory.
local function each(items, f) for i = 1, #items do f(items[i]) end end
local function shared(items)
  local count, last = 0, 0
  local function add(n) count = count + n end
  for i = 1, 2 do
    local sum = i
    each(items, function(x) sum = sum + x end)
    add(sum)
    last = sum
  end
  return count, function() return last end
end
local items = { 3, 1, 4 }
for _ = 1, 20 do each(items, function() end) end
for _ = 1, 20 do shared(items) end
