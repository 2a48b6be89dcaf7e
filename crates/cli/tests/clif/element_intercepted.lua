-- Stores of elements of a table whose `__newindex` is a function, which is inlined.
local last
local t = setmetatable({}, { __newindex = function(_, k, v) last = k + v end })
local function intercepted(t, i) t[i] = i end
for i = 1, 20 do t[i] = i end
for i = 1, 40 do intercepted(t, i) end
