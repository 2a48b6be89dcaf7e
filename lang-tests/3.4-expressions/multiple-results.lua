-- Multiple results are kept in last position and cut elsewhere (3.4.12).
-- expect: ok
--| 3	2	1
--| 3	x
--| x	3	2	1
--| 3
--|
--| nil	1
--| nil
--| 3	2	1	nil
--| x	2	1	nil
--| 2	2	1	nil
--| 5	6	1	1
--| 4	3	3	1
--| 0	1	1	4
--| 5	3	AB
--| 5	23	true	-2	true	true
--| a,b1	4	2	2
--| 1 2 3 
--| true	2	1

local function f(n) if n == 0 then return end return n, f(n - 1) end
print(f(3)); print(f(3), "x"); print("x", f(3)); print((f(3))); print(f(0)); print(f(0), 1)
print((f(0)))
local a, b, c, d = f(3)
print(a, b, c, d)
a, b, c, d = "x", f(2)
print(a, b, c, d)
a, b, c, d = f(2), f(2)
print(a, b, c, d)
print(#{ f(5) }, #{ f(5), f(5) }, #{ f(5), nil }, #{ (f(5)) })
local t = { f(2), x = f(3), f(3) }
print(#t, t.x, t[2], t[4])
print(select("#", f(0)), select("#", (f(0))), select("#", f(0), f(0)), select("#", f(4)))
print(math.max(f(5)), math.max(1, f(3)), string.char(65, 66))
print(f(2) + f(3), f(2) .. f(3), not f(0), -f(2), f(3) == 3, { f(2) } ~= nil)
local s = "a,b" .. f(1)
print(s, #s, f(1) and f(2), f(0) or f(2))
if f(0) then print("never") end
for i = f(1), f(3) do io.write(i, " ") end
print()
print(pcall(f, 2))
return f(2)
