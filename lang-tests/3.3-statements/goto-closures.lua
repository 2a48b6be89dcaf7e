-- Each pass through a block by goto makes fresh locals (3.3.4, 3.5).
-- expect: ok
--| 101	201	102	103
--| 2	2	4
--| ABBA		AA

local fs = {}
do
  local i = 1
  ::again::
  local x = i
  fs[i] = function() x = x + 100; return x end
  i = i + 1
  if i <= 3 then goto again end
end
print(fs[1](), fs[1](), fs[2](), fs[3]())
local gs = {}
for i = 1, 4 do
  local y
  if i % 2 == 1 then goto continue end
  y = i
  gs[#gs + 1] = function() return y end
  ::continue::
end
print(#gs, gs[1](), gs[2]())
local function machine(input)
  local pos, out = 0, {}
  ::start::
  pos = pos + 1
  local c = input:sub(pos, pos)
  if c == "a" then goto state_a elseif c == "b" then goto state_b else goto finish end
  ::state_a:: out[#out + 1] = "A"; goto start
  ::state_b:: out[#out + 1] = "B"; goto start
  ::finish:: return table.concat(out)
end
print(machine("abba"), machine(""), machine("aac"))
