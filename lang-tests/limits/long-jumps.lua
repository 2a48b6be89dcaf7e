-- Jumps over long bodies (implementation limit).
-- expect: ok
--| 6000
--| 10000
--| -1
--| 3999
--| 7999

local body = ("x = x + 1; "):rep(2000)
local env = { x = 0, next = next }
load("for i = 1, 3 do " .. body .. "end", "=s", "t", env)()
print(env.x)
load("local n = 0 while n < 2 do n = n + 1 " .. body .. "end", "=s", "t", env)()
print(env.x)
load("if x == 0 then " .. body .. " else x = -1 end", "=s", "t", env)()
print(env.x)
load("local n = 0 repeat n = n + 1 if n == 2 then goto done end " .. body
  .. " ::done:: until n == 3", "=s", "t", env)()
print(env.x)
load("for k in next, {1, 2} do " .. body .. "end", "=s", "t", env)()
print(env.x)
