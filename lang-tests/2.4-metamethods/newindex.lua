-- __newindex is called for absent keys only (2.4).
-- expect: ok
--| nil	nil	nil
--| absent=3 1=x present=4
--| nil	1	2
--| through two
--| set
--| false	newindex.lua:31: attempt to index a number value
--| 1	2

local log = {}
local o = setmetatable({ present = 1 }, { __newindex = function(t, k, v)
  log[#log + 1] = tostring(k) .. "=" .. tostring(v)
end })
o.present = 2
o.absent = 3
o[1] = "x"
o.present = nil
o.present = 4
print(o.present, o.absent, o[1])
print(table.concat(log, " "))
local store = {}
local p = setmetatable({}, { __newindex = store })
p.a = 1; p[10] = 2
print(rawget(p, "a"), store.a, store[10])
local chained = setmetatable({}, { __newindex = p })
chained.b = "through two"
print(store.b)
rawset(o, "raw", "set")
print(o.raw)
print(pcall(function() setmetatable({}, { __newindex = 5 }).x = 1 end))
local multi = setmetatable({}, { __newindex = function(t, k, v) rawset(t, k, v) end })
multi.a, multi.b = 1, 2
print(multi.a, multi.b)
