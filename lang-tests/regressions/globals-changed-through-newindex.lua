-- A store that `__newindex` passes on to the table of globals changes the globals that code relies
-- on.
-- expect: ok
--| 1	7	7
--| 2	8	8
--| 25	9
--| nil	6

Name, Key, Loop = 1, 2, 1
local sink, globals = { __newindex = {} }, { __newindex = _G }

local function by_name(p, v) local before = Name p.Name = v return before, Name end
local function by_key(p, k, v) local before = Key p[k] = v return before, Key end
local function in_loop(p, v)
  local sum = Loop
  for _ = 1, 3 do p.Loop = v sum = sum + Loop p.Loop = nil end
  return sum, Loop
end

for i = 1, 300 do
  by_name(setmetatable({}, sink), i)
  by_key(setmetatable({}, sink), "Key", i)
  in_loop(setmetatable({}, sink), i)
  sink.__newindex = {}
end
local a, b = by_name(setmetatable({}, globals), 7)
print(a, b, Name)
a, b = by_key(setmetatable({}, globals), "Key", 8)
print(a, b, Key)
Loop = 1
local proxy = setmetatable({}, { __newindex = function(_, k, v) if v then _G[k] = v end end })
a = in_loop(proxy, 8)
print(a, Loop + 1)

-- a chain that ends at the globals
Chain = 5
local function chained(p, v) local before = Chain p.Chain = v return before == v, Chain end
for i = 1, 300 do chained(setmetatable({}, { __newindex = setmetatable({}, sink) }), i) end
chained(setmetatable({}, { __newindex = setmetatable({}, globals) }), 6)
print(rawget(sink, "Chain"), Chain)
