-- A function expression may give a new closure each time it is evaluated (3.4.11).
-- expect: ok
--| false	true	1	2
--| false	1	3
--| a	b	nil
--| 1	2	2

local function make(x) return function() return x end end
local a, b = make(1), make(2)
print(a == b, a == a, a(), b())
local list = {}
for i = 1, 3 do list[i] = function() return i end end
print(list[1] == list[2], list[1](), list[3]())
local t = {}
t[a] = "a"; t[b] = "b"
print(t[a], t[b], t[make(1)])
local up = 0
local function share() return function() up = up + 1; return up end end
print(share()(), share()(), up)
