-- repeat tests after each round and sees the body's locals (3.3.4).
-- expect: ok
--| 3
--| 4
--| 3	1	2	3
--| false	repeat.lua:21: attempt to index a nil value (local 'x')
--| returned from inside

local i = 0
repeat i = i + 1; local done = i >= 3 until done
print(i)
repeat local once = true until true
local n = 0
repeat n = n + 1; if n == 4 then break end until false
print(n)
local fs = {}
i = 0
repeat local j = i; fs[#fs + 1] = function() j = j + 1; return j end; i = i + 1 until j == 2
print(#fs, fs[1](), fs[1](), fs[3]())
repeat local a <const> = 5; local b = a + 1 until b == 6
print(pcall(function() repeat local x = nil until x.y end))
local function nested()
  repeat repeat local k = 1 if k then return "returned from inside" end until false until false
end
print(nested())
