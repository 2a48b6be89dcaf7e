-- The border of small tables with holes is the one that PUC Lua finds.
-- expect: ok
--| 1
--| 1
--| 1
--| u	f	nil
--| 4
--| 7
--| 7
--| 7
--| 8
--| 40
--| 30

local function show(t) print(#t) return t end

-- one element with a hole before it does not extend a small table
local t = { kind = "x", y = 1 } t[1] = 1 t[3] = 3 show(t)
t = {} t[1] = 1 t[3] = 3 show(t)
t = { n = 1, [1] = 1, [3] = 3 } show(t)
t = { kind = 1 } t[1] = "a" t[3] = "f" table.insert(t, "u") print(t[2], t[3], t[4])
-- but more than half of the next power of two are an array
t = {} t[1] = 1 t[2] = 2 t[4] = 4 show(t)
t = {} for i = 1, 4 do t[i] = i end t[7] = 7 show(t) t[6] = 6 show(t)
t = {} for i = 1, 5 do t[i] = i end t[7] = 7 show(t)
t = {} for i = 1, 8 do t[i] = i end t[2] = nil t[15] = 15 show(t)
-- elements that are stored in pairs, the last one first
t = {} for i = 1, 40, 2 do t[i], t[i + 1] = i, -i end show(t)
t = {} for i = 1, 30, 3 do t[i], t[i + 1], t[i + 2] = i, true, "x" end show(t)
