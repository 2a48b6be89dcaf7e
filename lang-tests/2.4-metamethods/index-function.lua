-- __index with a function is called with the table and the key; one result is kept (2.4).
-- expect: ok
--| 1	absent	5	1.5	true
--| a	b
--| absent 5 1.5 true a b
--| now there	6
--| 42	42	42
--| nil
--| false	index-function.lua:28: no field foo
--| true

local log = {}
local o = setmetatable({ present = 1 }, { __index = function(t, k)
  log[#log + 1] = tostring(k)
  return k, "dropped"
end })
print(o.present, o.absent, o[5], o[1.5], o[true])
print(o.a, (o.b))
print(table.concat(log, " "))
o.absent = "now there"
print(o.absent, #log)
local memo = setmetatable({}, { __index = function(t, k)
  local v = k * 2; rawset(t, k, v); return v
end })
print(memo[21], rawget(memo, 21), memo[21])
print(setmetatable({}, { __index = function() end }).x)
print(pcall(function()
  return setmetatable({}, { __index = function(t, k) error("no field " .. k, 2) end }).foo
end))
print(setmetatable({}, { __index = function(t, k) return t end }).a.b.c ~= nil)
