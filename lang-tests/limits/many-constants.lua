-- Functions with more constants than short operands can name (implementation limit).
-- expect: ok
--| v1	v300	v600	1.25	600.25
--| 180600.0	180600.0	false	180600.0const	true	false
--| 300000
--| 1	300

local parts = { "local t = {}" }
for i = 1, 600 do parts[#parts + 1] = ("t.f%d = 'v%d'; t[%d] = %d.25"):format(i, i, i, i) end
parts[#parts + 1] = "return t"
local t = load(table.concat(parts, "\n"))()
print(t.f1, t.f300, t.f600, t[1], t[600])
parts = { "local x, t = ..., {}" }
for i = 1, 600 do parts[#parts + 1] = ("x = x + %d.5"):format(i) end
parts[#parts + 1] = "t.name600 = x; t['key' .. 1] = x == 90300.5 + 300; "
  .. "return x, t.name600, t.key1, x .. 'const', x < 1e9, -x == 5.75"
print(load(table.concat(parts, "\n"))(0))
parts = { "local o = ... local r = 0" }
for i = 1, 300 do parts[#parts + 1] = ("r = r + o:m%d(%d)"):format(i, 1000 + i) end
parts[#parts + 1] = "return r"
local o = setmetatable({}, { __index = function(t, k)
  local n = tonumber(k:sub(2)); return function(self, x) return x - n end
end })
print(load(table.concat(parts, "\n"))(o))
for i = 1, 300 do parts[i] = ("g%d = %d"):format(i, i) end
for i = 301, #parts do parts[i] = nil end
local env = {}
load(table.concat(parts, "\n"), "=s", "t", env)()
print(env.g1, env.g300)
