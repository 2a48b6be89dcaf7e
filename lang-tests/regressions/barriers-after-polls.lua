-- expect: ok
--| 35
-- A store reads the flags of the table to see whether the collector must be told. The allocation
-- between two stores may run the collector, which then marks the table: the flags that the first
-- store has read are not valid for the second one.

collectgarbage("generational")

local function fill(t)
  t.count = t.count + 1
  local list = { 7 }
  t.list = { list }
end

local all = {}
for i = 1, 5 do all[i] = { count = 0, list = { { 7 } } } end
for i = 1, 2000 do
  local t = all[i % 5 + 1]
  assert(t.list[1][1] == 7)
  fill(t)
end

local sum = 0
for _, t in ipairs(all) do sum = sum + t.list[1][1] end
print(sum)
