-- An endless chain of __index or __newindex tables is an error (2.4).
-- expect: ok
--| false	index-loop.lua:11: '__index' chain too long; possible loop
--| false	index-loop.lua:12: '__newindex' chain too long; possible loop
--| nil
--| false	index-loop.lua:18: '__index' chain too long; possible loop

local a, b = {}, {}
setmetatable(a, { __index = b, __newindex = b })
setmetatable(b, { __index = a, __newindex = a })
print(pcall(function() return a.x end))
print(pcall(function() a.x = 1 end))
local deep = {}
for i = 1, 50 do deep = setmetatable({}, { __index = deep }) end
print(deep.x)
local self = {}
setmetatable(self, { __index = self })
print(pcall(function() return self.x end))
