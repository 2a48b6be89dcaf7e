-- Vararg functions with many arguments (3.4.11).
-- expect: ok
--| 11325
--| 150	150
--| 150	1	2	3	150
--| 151
--| 151
--| ABCDEFGHIJKLMNOPQRSTUVWXYZ
--| 150	150

local t = {}
for i = 1, 150 do t[i] = i end
local function sum(...)
  local s = 0
  for i = 1, select("#", ...) do s = s + (select(i, ...)) end
  return s
end
print(sum(table.unpack(t)))
local function pass(...) return ... end
print(select("#", pass(table.unpack(t))), (select(150, pass(table.unpack(t)))))
local function wrap(a, b, ...) return b, a, ... end
local r = { wrap(wrap(table.unpack(t))) }
print(#r, r[1], r[2], r[3], r[150])
print(#{ pass(table.unpack(t)), pass(table.unpack(t)) })
print(#table.pack(pcall(pass, table.unpack(t))))
print(string.char(table.unpack(t, 65, 90)))
print(math.max(table.unpack(t)), select(-1, table.unpack(t)))
