-- Elements of a table whose `__index` is a function, which is inlined.
local t = setmetatable({}, { __index = function(_, k) return k * 2 end })
local function computed(t, i) return t[i] end
for i = 1, 20 do local _ = t[i] end
for i = 1, 40 do computed(t, i) end
