-- Chains of ephemerons, through one table and through many, survive a collection in steps as long
-- as their first key does, and go as one (2.5.4).
-- expect: ok
--| 1	80	0
--| 3	80	0
--| 12	80	0

local function run(count)
  local tables = {}
  for i = 1, count do tables[i] = setmetatable({}, { __mode = "k" }) end
  local function chain(n, reversed)
    local first = {}
    local keys = { first }
    for i = 2, n do keys[i] = {} end
    local from, to, by = 1, n, 1
    if reversed then from, to, by = n, 1, -1 end
    for i = from, to, by do
      tables[i % count + 1][keys[i]] = keys[i + 1] or "the end"
    end
    return first
  end
  local function length(key)
    local n = 0
    while key ~= "the end" do
      for i = 1, count do
        local next = tables[i][key]
        if next then
          n, key = n + 1, next
          break
        end
      end
    end
    return n
  end
  local one, other = chain(40, false), chain(40, true)
  for round = 1, 40 do
    chain(6, round % 2 == 0)
    collectgarbage("step", round % 5)
    if round % 10 == 0 then assert(length(one) == 40 and length(other) == 40) end
  end
  local total = length(one) + length(other)
  one, other = nil, nil
  collectgarbage()
  collectgarbage()
  local left = 0
  for i = 1, count do
    for _ in pairs(tables[i]) do left = left + 1 end
  end
  print(count, total, left)
end

for _, count in ipairs { 1, 3, 12 } do run(count) end
