-- __lt and __le give booleans; a > b is b < a (2.4).
-- expect: ok
--| true	true	false	false
--| true	false	true	true	true	false	false	true
--| lt le lt le lt lt le le lt lt le le
--| true	false	false
--| false	lt-le.lua:35: attempt to compare two table values
--| false	lt-le.lua:36: attempt to compare table with number
--| false	lt-le.lua:37: attempt to compare string with number
--| false	lt-le.lua:38: attempt to compare two nil values
--| false	lt-le.lua:19: attempt to compare number with string
--| true	true

local log = {}
local mt
mt = {
  __lt = function(a, b)
    log[#log + 1] = "lt"
    return (type(a) == "table" and a.v or a) < (type(b) == "table" and b.v or b)
  end,
  __le = function(a, b)
    log[#log + 1] = "le"
    return (type(a) == "table" and a.v or a) <= (type(b) == "table" and b.v or b)
  end,
}
local a, b = setmetatable({ v = 1 }, mt), setmetatable({ v = 2 }, mt)
print(a < b, a <= b, a > b, a >= b)
print(a < 5, 5 < a, a <= 1, 1 <= a, a > 0, 0 > a, a >= 1.5, 1.5 >= a)
print(table.concat(log, " "))
local truthy = setmetatable({}, {
  __lt = function() return 0 end,
  __le = function() return nil end,
})
print(truthy < truthy, truthy <= truthy, not (truthy < truthy))
print(pcall(function() return {} < {} end))
print(pcall(function() return {} < 1 end))
print(pcall(function() return "1" < 1 end))
print(pcall(function() return nil <= nil end))
print(pcall(function() return a < "x" end))
local only_lt = setmetatable({}, { __lt = function() return true end })
print(only_lt < only_lt, only_lt > only_lt)
