-- Concatenation of strings and numbers (3.4.6).
-- expect: ok
--| ab	a1	12	1.5x	-1	
--| abc12.0d
--| xxx	3
--| xxx12345678
--| 123.5	123.5	123.5
--| true
--| 200	true
--| true	4
--| true	15	37	a3b	x-1
--| 123456789012345678901234567890123456789012345678901234567890	60

print("a" .. "b", "a" .. 1, 1 .. 2, 1.5 .. "x", -1 .. "", "" .. "")
print("a" .. "b" .. "c" .. 1 .. 2.0 .. "d")
local s = "x"
s = s .. s .. s
print(s, #s)
for i = 1, 8 do s = s .. i end
print(s)
local a, b, c = "1", 2, 3.5
print(a .. b .. c, (a .. b) .. c, a .. (b .. c))
print(("long"):rep(20) .. "end" == ("long"):rep(20) .. "e" .. "n" .. "d")
print(#(("x"):rep(100) .. ("y"):rep(100) .. ""), ("x"):rep(40) .. "" == ("x"):rep(40))
print("zero\0byte" .. "\0" == "zero\0byte\0", #("a\0" .. "\0b"))
print(2 .. 3 == "23", "10" + 5 .. "", 1 + 2 .. 3 + 4, "a" .. 1 + 2 .. "b", "x" .. -1)
local parts = ""
for i = 1, 60 do parts = parts .. i % 10 end
print(parts, #parts)
