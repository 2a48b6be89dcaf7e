-- Functions are called themselves, even if their type has `__call` and calls of objects were seen.
-- expect: ok
--| 1
--| 1
--| -2
--| 1
--| 1
--| 1
--| -2
--| -1

local function op(a, b) local x = a(b) return x end
debug.setmetatable(5, {__call=function(self, x) return "called a number" end})
debug.setmetatable(print, {__call=function(self, x) return "WRONG" end})
for i = 1, 5000 do op(5, 1) end
print(op(math.abs, -1))
for i = 1, 5000 do op(5, 1) end
print(op(math.abs, -1))
print(op(function(x) return x * 2 end, -1))
local function op2(a, b) return a(b) end
local T = setmetatable({}, {__call=function(self, x) return "called a table" end})
for i = 1, 5000 do op2(T, 1) end
print(op2(math.abs, -1))
for i = 1, 5000 do op2(T, 1) end
print(op2(math.abs, -1))
local function op3(a, b) local x = a(b) return x end
for i = 1, 5000 do op3(T, 1) end
print(op3(math.abs, -1))
print(op3(function(x) return x * 2 end, -1))
local co = coroutine.wrap(function(x) coroutine.yield(x) end)
print(op3(co, -1))
