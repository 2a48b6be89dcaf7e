-- Mode "kv" drops an entry when either side is collected (2.5.4).
-- expect: ok
--| 2	nil	true	value
--| nil
--| table

local function count(t) local n = 0; for _ in pairs(t) do n = n + 1 end; return n end
local t = setmetatable({}, { __mode = "kv" })
local keep = {}
t[keep] = {}
t[{}] = keep
t["a"] = {}
t["b"] = keep
t[{}] = 1
t[keep] = "value"
collectgarbage()
print(count(t), t.a, t.b == keep, t[keep])
local any = setmetatable({}, { __mode = "anything with v" })
any[1] = {}
collectgarbage()
print(any[1])
local strong = setmetatable({}, { __mode = "x" })
strong[1] = {}
collectgarbage()
print(type(strong[1]))
