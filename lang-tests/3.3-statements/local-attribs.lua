-- const variables: compile-time constants and others (3.3.7).
-- expect: ok
--| 10	text	1	computed	nil	2
--| 2	3	15	text10	-10	3	20
--| 4	10
--| true constant
--| true	true
--| 20
--| 4611686018427387904	-5	1.5	-1.5	-10
--| 8 9 10 
--| nil

local a <const>, b <const> = 10, "text"
local c <const> = { 1 }
local d <const> = print and "computed"
local e<const>, f = nil, 2
print(a, b, c[1], d, e, f)
c[1] = 2
f = 3
print(c[1], f, a + 5, b .. a, -a, a // 3, a << 1)
local function use() return a, b, c, d end
print(select("#", use()), (use()))
local t <const> = true
if t then print("true constant") end
local n <const> = nil
print(n == nil, not n)
do local a <const> = a * 2; print(a) end
local big <const>, neg <const>, flt <const> = 1 << 62, -5, 1.5
print(big, neg, flt, -flt, neg * 2)
for i = a - 2, a do io.write(i, " ") end
print()
local x <const> = (...)
print(x)
