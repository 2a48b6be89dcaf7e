-- Unbounded recursion of Lua functions is a catchable error (implementation limit).
-- expect: ok
--| direct	false	true
--| mutual	false	true
--| arguments	false	true
--| method	false	true
--| again	false	true
--| 100

local function check(name, f)
  local ok, message = pcall(f)
  print(name, ok, type(message) == "string" and message:find("stack overflow", 1, true) ~= nil)
end
local function direct() return 1 + direct() end
check("direct", direct)
local ping, pong
function ping() return (pong()) end
function pong() return (ping()) end
check("mutual", ping)
local function args(a, b, c, ...) return 1 + args(b, c, a, ...) end
check("arguments", function() args(1, 2, 3, 4, 5) end)
local t = {}
function t:method() self:method(); return 1 end
check("method", function() t:method() end)
-- Afterwards everything still works, and again.
check("again", direct)
local function depth(n) if n == 0 then return 0 end return 1 + depth(n - 1) end
print(depth(100))
