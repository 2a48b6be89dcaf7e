-- Elements of one array are read and stored: kind, length and address of the array are loaded once.
local function swap(t, i, j)
  local v = t[i]
  t[i] = t[j]
  t[j] = v
end
local t = { 1, 2, 3, 4 }
for i = 1, 4 do swap(t, i, 5 - i) end
