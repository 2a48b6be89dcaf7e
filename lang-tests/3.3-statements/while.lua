-- while tests before each round (3.3.4).
-- expect: ok
--| 1 2 3 
--| 6
--| 0
--| 10	20	11	12
--| 1
--| 1:1 2:2 3:3 

local i = 0
while i < 3 do i = i + 1; io.write(i, " ") end
print()
while false do print("never") end
while nil do print("never") end
local n = 0
while true do n = n + 1; if n > 5 then break end end
print(n)
local t = { 1, 2, 3 }
while #t > 0 do t[#t] = nil end
print(#t)
local fs = {}
i = 0
while i < 3 do local j = i; fs[#fs + 1] = function() j = j + 10; return j end; i = i + 1 end
print(fs[1](), fs[1](), fs[2](), fs[3]())
while i > 0 and not (i == 1) do i = i - 1 end
print(i)
local a, b = 0, 0
while a < 3 do
  a = a + 1; b = 0; while true do b = b + 1; if b == a then break end end; io.write(a, ":", b, " ")
end
print()
