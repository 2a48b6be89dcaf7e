-- A finalizer may create objects, collect, and mark others for finalization (2.5.3).
-- expect: ok
--| 4 3 2 1
--| 2

local log = {}
local function make(n)
  setmetatable({}, { __gc = function()
    log[#log + 1] = n
    if n > 1 then make(n - 1) end
    local t = {}
    for i = 1, 20 do t[i] = { i } end
  end })
end
make(4)
for i = 1, 8 do collectgarbage() end
print(table.concat(log, " "))
local calls = 0
;(function()
  setmetatable({}, { __gc = function() calls = calls + 1; collectgarbage(); calls = calls + 1 end })
end)()
collectgarbage(); collectgarbage()
print(calls)
