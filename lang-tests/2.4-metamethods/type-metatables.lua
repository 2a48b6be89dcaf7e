-- Types other than tables have one metatable each, set with debug.setmetatable (2.4, 6.10).
-- expect: ok
--| 3	30	5	2.0
--| nil.x	nil+	nil+
--| function field	f..	function field
--| false	true	true
--| false	type-metatables.lua:33: attempt to perform arithmetic on a boolean value
--| false	type-metatables.lua:34: attempt to index a nil value (upvalue 'undefined')
debug.setmetatable(1, {
  __index = math,
  __call = function(n, x) return n * x end,
  __len = function(n) return n // 2 end,
})
print((2):max(3), (5)(6), #10, (4.0):sqrt())
debug.setmetatable(1, nil)
debug.setmetatable(nil, {
  __index = function(_, k) return "nil." .. k end,
  __add = function() return "nil+" end,
})
local undefined
print(undefined.x, undefined + 1, 1 + undefined)
debug.setmetatable(nil, nil)
debug.setmetatable(print, { __index = { name = "function field" },
  __concat = function() return "f.." end })
print(print.name, print .. 1, (function() end).name)
debug.setmetatable(print, nil)
debug.setmetatable(true, {
  __unm = function(b) return not b end,
  __lt = function() return true end,
})
print(-true, -false, true < false)
debug.setmetatable(true, nil)
print(pcall(function() return -true end))
print(pcall(function() return undefined.x end))
