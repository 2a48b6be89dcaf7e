-- return ends a function with any number of values (3.3.4).
-- expect: ok
--| 0	1	4	0
--| nil	nil	1
--| early	late
--| 3
--| 1
--| 1
--| ab	3
--| 1	1	nil	3	nil
--| nil	1	2
--| s:1: <eof> expected near '2'
--| s:1: unexpected symbol near <eof>
--| s:1: unexpected symbol near 'return'

local function none() return end
local function one() return 1 end
local function many() return 1, nil, 3, nil end
local function nothing() end
print(select("#", none()), select("#", one()), select("#", many()), select("#", nothing()))
print((none()), (nothing()), (many()))
local function early(x) if x then return "early" end do return "late" end end
print(early(true), early(false))
local function loop() for i = 1, 10 do while true do if i == 3 then return i end break end end end
print(loop())
local function semi() return 1; end
print(semi())
local function paren() return (many()) end
print(paren())
local function concat() return "a" .. "b", #"abc" end
print(concat())
local function nested() return many(), many() end
print(nested())
print(load("return")(), load("return 1, 2;")())
print(select(2, load("return 1 2", "=s")))
print(select(2, load("return 1,", "=s")))
print(select(2, load("do return 1 end x = 2; return return", "=s")))
