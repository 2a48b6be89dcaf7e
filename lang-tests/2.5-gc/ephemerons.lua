-- In an ephemeron table a value does not keep its own key alive (2.5.4).
-- expect: ok
--| 0
--| 10
--| 10
--| 0

local function count(t) local n = 0; for _ in pairs(t) do n = n + 1 end; return n end
local e = setmetatable({}, { __mode = "k" })
local function fill()
  local k = {}
  e[k] = { back = k }
  local a, b, c = {}, {}, {}
  e[a], e[b], e[c] = b, c, a
  local f = {}
  e[f] = function() return f end
end
fill()
collectgarbage()
print(count(e))
-- A chain through several entries lives exactly as long as its first key.
local first = {}
local function chain()
  local k = first
  for i = 1, 10 do
    local nextkey = { i }
    e[k] = nextkey
    k = nextkey
  end
end
chain()
collectgarbage()
print(count(e))
local k, last = first, nil
while k do last = k; k = e[k] end
print(last[1])
first, k, last = nil, nil, nil
collectgarbage()
print(count(e))
