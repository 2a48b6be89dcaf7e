-- A constant name in a table without a shape: the runtime looks it up along the metatables.
local function get(t)
  return t.k5
end
local t = {}
for k = 1, 12 do t["k" .. k] = k end
for _ = 1, 4 do
  get(t)
end
