-- _ENV is an ordinary name: a parameter, a local or an upvalue may take it (2.2).
-- expect: ok
--| 1	nil
--| 5
--| 2
--| <anything>	<b>
--| 3

local print, setmetatable = print, setmetatable
local function get(_ENV) return a end
print(get({ a = 1 }), get({}))
local function set(_ENV, v) a = v; return _ENV end
print(set({}, 5).a)
local function counter(_ENV)
  n = 0
  return function() n = n + 1; return n end
end
local env = {}
local c = counter(env)
c(); c()
print(env.n)
do
  local _ENV = setmetatable({}, { __index = function(_, k) return "<" .. k .. ">" end })
  print(anything, b)
end
do
  local _ENV <const> = { z = 3 }
  print(z)
end
