-- Upvalues captured in a loop body are closed when the loop is left by any jump.
-- expect: ok
--| 2	3	other
--| 10	10	true
--| 5	6
--| 2	3	100

local fs = {}
for i = 1, 3 do
  local x = i
  fs[#fs + 1] = function() x = x + 1; return x end
  if i == 2 then break end
end
local y = "other"
print(fs[1](), fs[2](), y)
local function f()
  for k, v in pairs({ 10 }) do
    local captured = v
    local g = function() return captured end
    if true then return g end
  end
end
local a, b = f(), f()
print(a(), b(), a ~= b)
local g
repeat local z = 5; g = function() return z end until g() == 5
local w = 6
print(g(), w)
while true do local q = 1; g = function() q = q + 1; return q end; goto out end
::out::
local q2 = 100
print(g(), g(), q2)
