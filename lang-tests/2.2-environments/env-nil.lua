-- A global access with a bad _ENV is an index error that names the upvalue or local (2.2).
-- expect: ok
--| false	env-nil.lua:11: attempt to index a nil value (local '_ENV')
--| false	env-nil.lua:12: attempt to index a number value (local '_ENV')
--| false	env-nil.lua:15: attempt to index a nil value (upvalue '_ENV')
--| false	env-nil.lua:18: attempt to call a nil value (global 'x')
--| false	env-nil.lua:19: attempt to index a nil value (global 'x')
--| false	env-nil.lua:20: attempt to concatenate a nil value (global 'x')

local pcall, print = pcall, print
print(pcall(function() local _ENV = nil; return x end))
print(pcall(function() local _ENV = 5; x = 1 end))
local function outer()
  local _ENV
  return function() return x end
end
print(pcall(outer()))
print(pcall(function() local _ENV = {}; x() end))
print(pcall(function() local _ENV = {}; x.y = 1 end))
print(pcall(function() local _ENV = {}; return x .. "" end))
