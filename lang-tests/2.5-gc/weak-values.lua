-- A weak-valued table loses entries whose value is collected (2.5.4).
-- expect: ok
--| nil	true	nil	true
--| 1	true	s	true
--| true
--| 7

local t = setmetatable({}, { __mode = "v" })
local keep = {}
t[1], t[2], t.x, t.y = {}, keep, {}, keep
t.number, t.bool, t.string = 1, true, "s"
t.fn = print
collectgarbage()
print(t[1], t[2] == keep, t.x, t.y == keep)
print(t.number, t.bool, t.string, t.fn == print)
local strong_key = {}
t[strong_key] = strong_key
collectgarbage()
print(t[strong_key] == strong_key)
local n = 0
for k, v in pairs(t) do n = n + 1 end
print(n)
