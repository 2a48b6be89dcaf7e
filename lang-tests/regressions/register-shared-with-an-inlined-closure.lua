-- A function stores a variable that it shares with a closure which is inlined in it: what the
-- closure read before is not what it reads afterwards. The optimizing compiler took it for the
-- same.
-- expect: ok
--| 10000	9900
--| 700

local function total(n)
  local x = 0
  local function get() return x end
  local sum = 0
  for _ = 1, n do
    sum = sum + get()
    x = x + 1
    sum = sum + get()
  end
  return sum
end

-- The same with a store by an instruction that finds its value in a table.
local function from_table(t)
  local x = 0
  local function get() return x end
  local sum = 0
  for i = 1, #t do
    local before = get()
    x = t[i]
    sum = sum + get() + before
  end
  return sum
end

local first, second
for _ = 1, 60 do
  first, second = total(100), from_table({ 100, 50, 100, 50, 100 })
end
print(first, total(99) + 198 - 99)
print(second)
