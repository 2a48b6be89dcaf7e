-- Rows of a matrix stay known in a loop that stores to one of them.
local function add(m, i, n)
  for j = 1, n do
    m[i][j] = m[i - 1][j] + m[i][j]
  end
end
for _ = 1, 8 do add({ { 1, 2, 3 }, { 4, 5, 6 } }, 2, 3) end
