-- rawget, rawset, rawequal and rawlen bypass metamethods (6.1).
-- expect: ok
--| 1	nil	true	5	2	false	true
--| true	true	false	false
--| false	bad argument #1 to 'rawget' (table expected, got number)
--| false	bad argument #1 to 'rawset' (table expected, got string)
--| false	bad argument #2 to 'rawequal' (value expected)
--| false	bad argument #1 to 'rawlen' (table or string expected, got number)
--| false	bad argument #2 to 'rawget' (value expected)
--| false	bad argument #3 to 'rawset' (value expected)
--| 3	0

local function fail() error("metamethod called") end
local mt = { __index = fail, __newindex = fail, __eq = fail, __len = fail }
local a, b = setmetatable({ 1, 2 }, mt), setmetatable({ 1, 2 }, mt)
print(rawget(a, 1), rawget(a, "x"), rawset(a, "x", 5) == a, a.x, rawlen(a), rawequal(a, b),
  rawequal(a, a))
print(rawequal(1, 1.0), rawequal("a", "a"), rawequal(nil, false), rawequal(0/0, 0/0))
print(pcall(rawget, 1, 1)); print(pcall(rawset, "x", 1, 2)); print(pcall(rawequal, 1))
print(pcall(rawlen, 5))
print(pcall(rawget, {})); print(pcall(rawset, {}, 1)); print(rawlen("abc"), rawlen({}))
