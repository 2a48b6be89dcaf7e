-- A sum of integers and floats that is only needed as a float.
local function mean(t, i)
  return (t[i] + t[i + 1]) / 2
end
for _ = 1, 4 do
  mean({ 1, 2.5, "" }, 1)
  mean({ 1, 2, "" }, 1)
end
