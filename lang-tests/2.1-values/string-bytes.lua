-- Strings hold any bytes, zeros included, and compare by content (2.1).
-- expect: ok
--| 4	1	0
--| 97	0	98	0
--| false	true	true
--| 256	127	128	129	130	131
--| true
--| long key	nil
--| café	5	255	254

local s = "a\0b\0"
print(#s, #"\0", #"")
print(s:byte(1, -1))
print("a\0b" == "a\0c", "a\0b" < "a\0c", "a\0" > "a")
local all = {}
for i = 0, 255 do all[#all + 1] = string.char(i) end
local bytes = table.concat(all)
print(#bytes, bytes:byte(128, 132))
print(("ab"):rep(30) == ("abab"):rep(15))
local t = {}
t[("k"):rep(50)] = "long key"
print(t[("kk"):rep(25)], t[("k"):rep(49)])
print("caf\xc3\xa9", #"caf\xc3\xa9", ("\xff\xfe"):byte(1, 2))
