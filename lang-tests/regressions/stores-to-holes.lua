-- Stores to holes in the array part, in tables with and without metatables.
-- expect: ok
--| ok
local function fill(t, n, v) for i = n, 1, -1 do t[i] = v end return t end
local function holes(n)
  local t = {}
  for i = 1, n do t[i] = "s" end
  for i = 1, n - 1 do t[i] = nil end
  return t
end
for round = 1, 300 do
  local t = fill(holes(12), 12, round)
  for i = 1, 12 do assert(t[i] == round) end
  local count = 0
  local function store(t, k, v) count = count + 1 rawset(t, k, v) end
  local u = setmetatable(holes(12), { __newindex = store })
  fill(u, 12, "x")
  assert(count == 11, count)
  local w = fill(holes(12), 12, {})
  assert(#w == 12)
  collectgarbage("step")
  assert(type(w[3]) == "table" and w[3] == w[4])
end
print "ok"
