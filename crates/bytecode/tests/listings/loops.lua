local t = {}
for i = 1, 10 do t[i] = i end
for i = 10, 1, -1 do local function f() return i end t[i] = f end
for k, v in pairs(t) do if v then goto continue end print(k, v) ::continue:: end
for a, b, c, d, e in f, s, c, x do return a end
repeat local z = f(); local function g() return z end; if z then break end until g()
do local captured = 1; local f = function() captured = captured + 1 end; goto out end
::out::
::again::
local n = f()
if n then goto again end
