-- A traversal by `pairs`: elements, then nodes.
local function visit(t)
  local n = 0
  for _, v in pairs(t) do n = n + v end
  return n
end
for i = 1, 4 do visit({ 1, 2, x = 3 }) end
