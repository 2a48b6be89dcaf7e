-- A suspended coroutine that is unreachable is collected with its stack (2.5, 2.6).
-- expect: ok
--| on the stack	true
--| nil	nil
--| finalized

local weak = setmetatable({}, { __mode = "v" })
local function make()
  local co = coroutine.wrap(function()
    local o = { "on the stack" }
    weak.o = o
    weak.self = coroutine.running()
    coroutine.yield()
    return o
  end)
  co()
  return co
end
local co = make()
collectgarbage()
print(weak.o[1], weak.self ~= nil)
co = nil
collectgarbage()
print(weak.o, weak.self)
local log = {}
;(function()
  local c = coroutine.create(function(o) coroutine.yield() end)
  coroutine.resume(c, setmetatable({}, { __gc = function() log[#log + 1] = "finalized" end }))
end)()
collectgarbage()
print(log[1])
