-- The generic for calls its iterator with state and control (3.3.5).
-- expect: ok
--| 1=0 2=10 3=20 
--| 10nil 210nil 
--| 1a 2b 
--| one.two.three.
--| 1 2 
--| 1	xx
--| 1	xxxx
--| 2	yy
--| 2 4 6 
--| 1	2	3
--| false does not end it	false
--| 1

local function iterator(state, control)
  if control < state then return control + 1, control * 10 end
end
for i, v in iterator, 3, 0 do io.write(i, "=", v, " ") end
print()
for i, v, extra in iterator, 2, 0 do io.write(i, v, tostring(extra), " ") end
print()
for k, v in next, { "a", "b" } do io.write(k, v, " ") end
print()
for w in ("one two three"):gmatch("%a+") do io.write(w, ".") end
print()
for k in pairs({}) do print("never") end
for i, v in ipairs({ 1, 2, nil, 4 }) do io.write(i, " ") end
print()
local fs = {}
for i, v in ipairs({ "x", "y" }) do fs[i] = function() v = v .. v; return i, v end end
print(fs[1]()); print(fs[1]()); print(fs[2]())
local function three() local n = 0; return function() n = n + 1; if n <= 3 then return n end end end
for n in three() do n = n * 2; io.write(n, " ") end
print()
for a, b, c in function(_, c) if not c then return 1, 2, 3, 4 end end do print(a, b, c) end
for k in function() return false end do print("false does not end it", k) break end
for x in (function() return three() end)() do if x == 2 then break end io.write(x, "\n") end
