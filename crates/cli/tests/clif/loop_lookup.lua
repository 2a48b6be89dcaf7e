-- Before a loop, a library function that it calls on one path is looked up and compared.
local function lookup(n)
  local steps = 0
  while n > 1 do
    if n % 2 == 0 then n = math.abs(n) // 2 else n = 3 * n + 1 end
    steps = steps + 1
  end
  return steps
end
for i = 1, 8 do lookup(i) end
