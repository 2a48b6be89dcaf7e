-- A yield crosses the iterator of a generic for (2.6).
-- expect: ok
--| iterate 0
--| body	1	sent 1
--| iterate 1
--| body	2	sent 2
--| iterate 2
--| body	3	sent 3
--| iterate 3
--| callable
--| body	sent 5
--| 1 2 3 

local function producer(n) for i = 1, n do coroutine.yield(i) end end
local co = coroutine.wrap(function()
  local function iterator(state, i)
    local sent = coroutine.yield("iterate " .. i)
    if i < state then return i + 1, sent end
  end
  for i, v in iterator, 3, 0 do print("body", i, v) end
  for i in setmetatable({},
    { __call = function(self, s, c) return coroutine.yield("callable") end }) do
    print("body", i)
    break
  end
  return "end"
end)
local r = co()
local n = 0
while r ~= "end" do
  n = n + 1
  print(r)
  r = co("sent " .. n)
end
for v in coroutine.wrap(function() producer(3) end) do io.write(v, " ") end
print()
