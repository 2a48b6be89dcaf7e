-- expect: ok
--| 399
-- A function reads its environment as a value, and a debug function changes that while it waits. No
-- code that is compiled has loaded a global by then.
local setupvalue, getupvalue, env2 = debug.setupvalue, debug.getupvalue, { other = true }
local print = print
local use
local fs = {}
for i = 1, 400 do fs[i] = i % 2 == 0 and function() end or function() return 1 end end
fs[390] = function()
  local n = 1
  while getupvalue(use, n) ~= "_ENV" do n = n + 1 end
  setupvalue(use, n, env2)
end
function use(i)
  local before = _ENV
  fs[i]()
  local after = _ENV
  if before == after then return 1 end
  return 0
end
local same = 0
for i = 1, 400 do same = same + use(i) end
print(same)
