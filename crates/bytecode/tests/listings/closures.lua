local a, b <const>, c <const> = 1, 2, "folded"
local d <const> = f()
local function outer(x, ...)
  local y = x
  local function inner() y = y + a; return b .. c, d, x end
  local function self_ref() return self_ref end
  return inner, ...
end
function outer.method:name(p) return self, p, c end
local _ENV <const> = { g = 1 }
g = g + 1
