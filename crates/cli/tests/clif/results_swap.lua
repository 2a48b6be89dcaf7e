-- Several results of a call, and several to return.
local function two(a, b) return a, b end
local function swap(a, b)
  local x, y = two(a, b)
  return y, x
end
for i = 1, 4 do swap(i, i) end
