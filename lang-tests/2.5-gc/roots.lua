-- Locals, upvalues, the registry, coroutines and globals keep their objects alive (2.5).
-- expect: ok
--| local	true
--| global	true
--| upvalue	true
--| coroutine local	true
--| coroutine argument	true
--| library field	true
--| local	upvalue
--| nil	nil	nil	nil

local weak = setmetatable({}, { __mode = "v" })
local function new(name) local o = { name = name }; weak[name] = o; return o end
local held = new("local")
global_object = new("global")
local up = (function() local u = new("upvalue"); return function() return u end end)()
local co = coroutine.create(function(v)
  local inner = new("coroutine local")
  coroutine.yield()
  return inner, v
end)
coroutine.resume(co, new("coroutine argument"))
string.hidden = new("library field")
collectgarbage(); collectgarbage()
for _, name in ipairs({ "local", "global", "upvalue", "coroutine local", "coroutine argument",
  "library field" }) do
  print(name, weak[name] and weak[name].name == name)
end
print(held.name, up().name)
global_object, string.hidden, co = nil, nil, nil
collectgarbage(); collectgarbage()
print(weak["global"], weak["library field"], weak["coroutine local"], weak["coroutine argument"])
