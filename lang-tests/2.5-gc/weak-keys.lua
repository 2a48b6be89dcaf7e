-- A weak-keyed table loses entries whose key is collected (2.5.4).
-- expect: ok
--| 4	kept	table	table	builtin
--| 3

local t = setmetatable({}, { __mode = "k" })
local keep = {}
t[{}] = "lost"
t[keep] = "kept"
t["string key"] = {}
t[1] = {}
t[print] = "builtin"
collectgarbage()
local n = 0
for k, v in pairs(t) do n = n + 1 end
print(n, t[keep], type(t["string key"]), type(t[1]), t[print])
keep = nil
collectgarbage()
n = 0
for k, v in pairs(t) do n = n + 1 end
print(n)
