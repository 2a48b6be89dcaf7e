-- Stores by __newindex that is a table in hot code (2.4).
-- expect: ok
--| 1	nil	1
--| 2	nil	2
--| 4	nil	4
--| nil	nil	nil
--| 5	nil	nil	5
--| 6	6	nil
--| 7	7	q
--| 8	nil
--| false '__newindex' chain too long; possible loop
--| false attempt to index a number value
--| false table index is nil
--| false table index is NaN
--| false attempt to perform arithmetic on a table value (local 'x')
--| added
--| again
--| nil	1
--| 3	true
--| 3
local function strip(ok, e)
  return tostring(ok) .. " " .. tostring(e):gsub("^.-:%d+: ", "")
end
local function hot(f, ...) local r for _ = 1, 300 do r = f(...) end return r end
local d, log = {}, {}
local p = setmetatable({}, { __index = d, __newindex = d })
print(hot(function(v) p.x = v return p.x end, 1), rawget(p, "x"), d.x)
print(hot(function(k, v) p[k] = v return p[k] end, "y", 2), rawget(p, "y"), d.y)
print(hot(function(k, v) p[k] = v return p[k] end, 3, 4), rawget(p, 3), d[3])
print(hot(function(v) p.x = v return tostring(p.x) end, nil), rawget(p, "x"), d.x)
-- chains
local e = setmetatable({}, { __index = p, __newindex = p })
print(hot(function(v) e.z = v return e.z end, 5), rawget(e, "z"), rawget(p, "z"), d.z)
d.w = 1
setmetatable(d, {
  __newindex = function(t, k, v) log[#log % 3 + 1] = k rawset(t, k, v) end })
print(hot(function(v) e.w = v return e.w end, 6), d.w, log[1])
print(hot(function(v) d.q = nil e.q = v return e.q end, 7), d.q, log[1])
-- own keys are stored directly
rawset(e, "own", 0)
print(hot(function(v) e.own = v return e.own end, 8), rawget(d, "own"))
-- loops and errors
local a = {} setmetatable(a, { __newindex = a })
print((strip(pcall(hot, function() a.x = 1 end))))
local b = setmetatable({}, { __newindex = 5 })
print((strip(pcall(hot, function() b.x = 1 end))))
print((strip(pcall(hot, function(k) p[k] = 1 end, nil))))
print((strip(pcall(hot, function(k) p[k] = 1 end, 0/0))))
-- metatables that are events' tables: stores of metamethods are seen
local M = {} local o = setmetatable({}, M)
local q = setmetatable({}, { __newindex = M })
local function add(x) return x + 1 end
print((strip(pcall(add, o))))
hot(function(f) q.__add = f end, function() return "added" end)
print(hot(add, o))
hot(function(f) q.__add = f end, function() return "again" end)
print(hot(add, o))
-- changes of the target while hot
local mt = { __newindex = {} } local s = setmetatable({}, mt)
local function put(v) s.k = v return rawget(s, "k") end
print(hot(put, 1), mt.__newindex.k)
mt.__newindex = function(t, k, v) rawset(t, k, v + 1) end
print(put(2), mt.__newindex ~= nil)
s.k = nil mt.__newindex = nil
print(hot(put, 3))
