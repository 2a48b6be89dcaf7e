-- Short and long strings with equal contents are one key (2.1, 3.4.4).
-- expect: ok
--| 1	2	nil
--| 38 39 40 41 42 43 
--| true	true	true
--| 5050	nil	nil	true
--| 3	1	1

local t = {}
local short, long = "k" .. "ey", ("long"):rep(20)
t[short], t[long] = 1, 2
print(t["key"], t[("long"):rep(10) .. ("long"):rep(10)], t[("lon"):rep(20)])
for n = 38, 43 do local s = ("x"):rep(n); t[s] = n; io.write(t[("x"):rep(n - 1) .. "x"], " ") end
print()
print(("x"):rep(40) == ("x"):rep(20) .. ("x"):rep(20), ("x"):rep(41) == ("x"):rep(20)
  .. ("x"):rep(21), ("x"):rep(41) < ("x"):rep(42))
for i = 1, 100 do t["n" .. i] = i end
local sum = 0
for i = 1, 100 do sum = sum + t["n" .. i] end
print(sum, t["n0"], t["n101"], rawequal(("y"):rep(50), ("yy"):rep(25)))
local words, counts = "the cat the dog the end", {}
for w in words:gmatch("%a+") do counts[w] = (counts[w] or 0) + 1 end
print(counts.the, counts.cat, counts["do" .. "g"])
