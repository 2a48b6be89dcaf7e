-- Constructors with more items than one batch of registers (3.4.9).
-- expect: ok
--| 300	1	50	51	100	300
--| 45150
--| 302	300	x	y
--| 1	150	300	0
--| 300	300	256
--| 300	s1s300	true
--| 1.0	255.5

local items = {}
for i = 1, 300 do items[i] = tostring(i) end
local source = "return {" .. table.concat(items, ", ") .. "}"
local t = load(source)()
print(#t, t[1], t[50], t[51], t[100], t[300])
local sum = 0
for i, v in ipairs(t) do sum = sum + v end
print(sum)
t = load("return {" .. table.concat(items, ", ") .. ", ...}")("x", "y")
print(#t, t[300], t[301], t[302])
for i = 1, 300 do items[i] = "k" .. i .. " = " .. i end
t = load("return {" .. table.concat(items, ", ") .. "}")()
print(t.k1, t.k150, t.k300, #t)
for i = 1, 300 do items[i] = "{" .. i .. "}" end
t = load("return {" .. table.concat(items, ", ") .. "}")()
print(#t, t[300][1], t[256][1])
for i = 1, 300 do items[i] = "'s" .. i .. "'" end
local f = load("local t = {" .. table.concat(items, ", ")
  .. "} return #t, t[1] .. t[300], 's299' == t[299]")
print(f())
for i = 1, 300 do items[i] = i .. ".5" end
t = load("return {" .. table.concat(items, ", ") .. "}")()
print(t[300] - t[299], t[255])
