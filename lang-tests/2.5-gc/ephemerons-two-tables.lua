-- Ephemeron entries may depend on each other across tables (2.5.4).
-- expect: ok
--| 2	1	end
--| 0	0

local function count(t) local n = 0; for _ in pairs(t) do n = n + 1 end; return n end
local e1 = setmetatable({}, { __mode = "k" })
local e2 = setmetatable({}, { __mode = "k" })
local root = {}
local function fill()
  local k1, k2 = {}, {}
  e1[root] = k1
  e2[k1] = k2
  e1[k2] = "end"
  local lost1, lost2 = {}, {}
  e1[lost1] = lost2
  e2[lost2] = lost1
end
fill()
collectgarbage()
print(count(e1), count(e2), e1[e2[e1[root]]])
root = nil
collectgarbage()
print(count(e1), count(e2))
