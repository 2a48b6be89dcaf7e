-- __eq is tried for two different tables, and its result becomes a boolean (2.4).
-- expect: ok
--| true	false	false	true	true
--| false	false	false	false	false
--| true	true
--| true	true
--| false	ab ab ac ac ao ap pa
--| branch taken
--| true	true

local log = {}
local mt = { __eq = function(a, b)
  log[#log + 1] = a.n .. b.n; return a.v == b.v and "yes" or nil
end }
local function new(n, v) return setmetatable({ n = n, v = v }, mt) end
local a, b, c = new("a", 1), new("b", 1), new("c", 2)
print(a == b, a ~= b, a == c, a ~= c, a == a)
print(a == 1, 1 == a, a == "a", a == nil, a == new)
local other = setmetatable({ n = "o", v = 1 }, { __eq = function() return true end })
print(a == other, other == a)
local plain = { n = "p", v = 1 }
print(a == plain, plain == a)
print(rawequal(a, b), table.concat(log, " "))
if a == b then print("branch taken") end
while a ~= b do break end
print(not (a == c), (a == b) == true)
