-- Stores of floats convert an array of integers before the loop, whose keys are floats.
local function convert(t, n)
  for k = 1, n do
    t[k / 1] = 0.5
  end
end
for _ = 1, 8 do convert({ 1, 2, 3, 4 }, 4) end
