-- Before a loop that counts, the lengths of its arrays are compared once with the first and the
-- last index, and the loop loads elements without a comparison.
local function range(a, b, n)
  local sum = 0.0
  for i = 2, n do sum = sum + a[i - 1] * b[i] end
  return sum
end
local a = {1.5, 2.5, 3.5}
for _ = 1, 8 do range(a, a, 3) end
