-- t.name is t["name"], and index expressions nest (3.2).
-- expect: ok
--| n	n	s	d	d
--| n	n	b	n	1
--| 3
--| indirect
--| b	b	nil
--| true

local t = { name = "n", ["with space"] = "s", [1] = { [2] = { deep = "d" } }, list = { "a", "b" } }
print(t.name, t["name"], t["with space"], t[1][2].deep, t[1][2]["deep"])
local k = "name"
print(t[k], t["na" .. "me"], t.list[#t.list], (t).name, ({ x = 1 }).x)
t.new = {}
t.new.a, t["new"].b = 1, 2
print(t.new.a + t.new.b)
t[t.name] = "indirect"
print(t.n)
print(t.list[1 + 1], t.list[2.0], t.list["2"])
print(("abc").upper == string.upper)
