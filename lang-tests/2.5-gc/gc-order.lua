-- Finalizers run in the reverse order of their marking (2.5.3).
-- expect: ok
--| 6 7 8 4 5 2 1 3

local log = {}
local mt = { __gc = function(o) log[#log + 1] = o.n end }
local function fill()
  local all = {}
  for i = 1, 8 do all[i] = { n = i } end
  for _, i in ipairs({ 3, 1, 2, 5, 4, 8, 7, 6 }) do setmetatable(all[i], mt) end
end
fill()
collectgarbage()
print(table.concat(log, " "))
