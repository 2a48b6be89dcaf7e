-- Arrays of booleans: an element is its tag, a byte.
local function clear(flags, n)
  local count = 0
  for i = 1, n do
    if flags[i] then
      count = count + 1
      flags[i] = false
    end
  end
  return count
end
local flags = { true, false, true, true }
for _ = 1, 4 do
  clear(flags, 4)
  flags[1] = true
end
