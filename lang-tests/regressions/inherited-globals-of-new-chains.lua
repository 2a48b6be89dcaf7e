-- covers: a global that an environment inherits, in code that knows that a table is not watched
-- when that table joins the chain of the environment, and gets the global afterwards
-- expect: ok
--| 1	7
local G0 = setmetatable({}, {})
load("foo = 1", "=g", "t", G0)()
local mt, env = {}, {}
setmetatable(env, mt)
local make = load([[
  return function(M)
    M.bar = 2
    local a, b
    for i = 1, 2 do a, b = b, foo M.foo = 7 end
    return a, b
  end
]], "=f", "t", env)
local function middle()
  local M = { foo = false, bar = 1 }
  M.foo = nil
  return setmetatable(M, { __index = G0 })
end
mt.__index = middle()
local f = make()
for n = 1, 300 do
  local a, b = f(middle())
  assert(a == 1 and b == 1)
end
local M = middle()
mt.__index = M
local a, b = f(M)
print(a, b)
