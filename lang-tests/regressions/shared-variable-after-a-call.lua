-- The value that a variable had before a closure assigned to it (3.5).
-- expect: ok
--| 3
local function run(n)
  local shared = n
  local function add() shared = shared + 1 end
  local before = shared
  add()
  return before + 0
end
for i = 1, 100 do run(i) end
print(run(3))
