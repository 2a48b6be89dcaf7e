local a, b, c = ...
local x = a and b or c
x = a == b; x = a ~= nil; x = 1 == a; x = a == 1.0; x = a == "s"; x = a == 1000
x = a < b; x = a > b; x = a <= 1; x = 1 <= a; x = 1.0 < a; x = a >= 200
x = not (a and b); x = not a == b; x = (a or b) and c
x = nil and a; x = false or a; x = 1 and a; x = nil or nil
if a and not b then f() elseif a or b == 1 then g() else h() end
if a then break_out = 1 end
if nil then dead() end
if false then dead() end
while true do if a then break end if b then break; end end
while a < 10 do a = a + 1 if a == 5 then goto continue end f(a) ::continue:: end
repeat local y = f() until y
