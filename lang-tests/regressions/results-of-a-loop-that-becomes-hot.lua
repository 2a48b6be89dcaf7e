-- Machine code of a loop runs to the end of the call. What the call returns is more than the
-- caller's registers hold where the number of results is open, and a collection right after it
-- clears none of them.
-- expect: ok
--| right	100

local source = [[
  local t = ...
  for k, v in next, t do t[k] = v + 1 end
  for i = 1, 20 do t[1] = t[1] + i end
  return 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, {}, 'last'
]]
local right = 0
local function check(...)
  local last, n = select(-1, ...), select('#', ...)
  if last == 'last' and n == 19 and type((select(18, ...))) == 'table' then right = right + 1 end
end
for i = 1, 100 do
  local f = load(source)
  check(pcall(f, { 1, 2, 3, 4, 5, 6, 7, 8 }))
end
print('right', right)
