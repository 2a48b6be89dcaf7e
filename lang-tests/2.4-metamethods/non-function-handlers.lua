-- A metamethod may be any callable value; others are call errors (2.4).
-- expect: ok
--| true	callable	callable
--| false	non-function-handlers.lua:13: attempt to call a number value (metamethod 'add')
--| false	non-function-handlers.lua:14: attempt to call a string value (metamethod 'concat')
--| false	non-function-handlers.lua:15: attempt to call a table value (metamethod 'lt')
--| false	non-function-handlers.lua:16: attempt to call a boolean value (metamethod 'len')
--| true	nil

local callable = setmetatable({}, { __call = function(self, a, b) return "callable", self, b end })
local o = setmetatable({}, { __add = callable, __concat = callable, __len = callable })
print(o + 1 == "callable", o .. 1, #o)
print(pcall(function() return setmetatable({}, { __add = 1 }) + 1 end))
print(pcall(function() return setmetatable({}, { __concat = "s" }) .. 1 end))
print(pcall(function() return setmetatable({}, { __lt = {} }) < 1 end))
print(pcall(function() return #setmetatable({}, { __len = true }) end))
print(pcall(function() return setmetatable({}, { __index = rawget }).x end))
