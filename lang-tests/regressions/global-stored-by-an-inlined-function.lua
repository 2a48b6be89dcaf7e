-- An inlined function stores a global: the code read its closure from a frame that was not stored.
-- expect: ok
--| 300	301

count = 0
local function bump(by)
  count = count + by
  return count
end

local function run(n)
  local last
  for _ = 1, n do
    last = bump(1)
  end
  return last
end

local last
for _ = 1, 30 do
  last = run(10)
end
print(last, bump(1))
