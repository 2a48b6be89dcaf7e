-- A free name x is _ENV.x, and _G holds the globals (2.2).
-- expect: ok
--| 10	10	10	true	true
--| 20	20
--| 1
--| nil	nil
--| inner	nil
--| set inside
--| 10	nil

x = 10
print(x, _ENV.x, _G.x, _ENV == _G, _G._G == _G)
_G.y = 20
print(y, rawget(_G, "y"))
_G["not a name"] = 1
print(_ENV["not a name"])
y = nil
print(y, _G.y)
local print, error_text = print, nil
do
  local _ENV = { x = "inner" }
  print(x, y)
  y = "set inside"
  print(_ENV.y)
end
print(x, y)
