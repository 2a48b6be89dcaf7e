-- Operators and brackets need no spaces, and the longest token wins (3.1).
-- expect: ok
--| 3	true	false	true	false	28	1	5	-8	72
--| 5	5	7	1	true
--| 5	2	5
--| xxx	true	true
--| abcd
--| 7
--| 1	nil
--| 0.125	-4.0	512.0	12	2

local a,b,t=7,2,{5}
print(a//b,a~=b,a<=b,a>=b,a==b,a<<b,a>>b,a~b,~a,a..b)
print(a-b,a--[[c]]-b,- -a,#t,not not a)
print(t[1],({[1]=2})[1],t[#t])
print(("x"):rep(3),#"abc"==3,a<b==false)
local s='a'..'b'..[[c]].."d"print(s)
goto l;do return end::l::print(a)
do local x<const>,y<close> =1,nil print(x,y)end
print(2^-3,-2^2,2^3^2,1 ..2,a~b~a)
