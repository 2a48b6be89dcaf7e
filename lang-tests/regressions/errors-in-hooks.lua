-- Variables of a hook that fails are closed, and a coroutine that it ends keeps its frames.
-- expect: ok
--| in hook
--| stack traceback:
--| 	[C]: in function 'error'
--| 	errors-in-hooks.lua:23: in hook '?'
--| 	errors-in-hooks.lua:25: in function <errors-in-hooks.lua:18>
--| of the hook	in hook
--| outer	in hook
--| false	in hook
--| of the hook	in hook
--| outer	in hook
--| false	in hook

local function closing(name)
  return setmetatable({}, { __close = function(_, e) print(name, e) end })
end
local co = coroutine.create(function()
  local outer <close> = closing "outer"
  debug.sethook(function()
    local value <close> = closing "of the hook"
    debug.sethook()
    error("in hook", 0)
  end, "l")
  local x = 1
end)
local _, message = coroutine.resume(co)
print(debug.traceback(co, message))
collectgarbage() collectgarbage()
print(coroutine.close(co))
print(pcall(function()
  local outer <close> = closing "outer"
  debug.sethook(function()
    local value <close> = closing "of the hook"
    debug.sethook()
    error("in hook", 0)
  end, "l")
  local x = 1
end))
