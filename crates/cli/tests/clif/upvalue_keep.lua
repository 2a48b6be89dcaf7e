-- A store to an upvalue, with the write barrier, and a load.
local kept
local function keep(v)
  kept = v
  return kept
end
for i = 1, 4 do keep({}) end
