-- debug.traceback's forms (6.10).
-- expect: ok
--| message
--| stack traceback:
--|   traceback.lua:46: in upvalue 'inner'
--|   traceback.lua:48: in method 'method'
--|   traceback.lua:49: in function 'global_function'
--| level 2
--| stack traceback:
--|   traceback.lua:48: in method 'method'
--|   traceback.lua:49: in function 'global_function'
--| stack traceback:
--|   traceback.lua:46: in upvalue 'inner'
--|   traceback.lua:48: in method 'method'
--|   traceback.lua:49: in function 'global_function'
--| true	string	table	true
--| stack traceback:
--| stack traceback:
--| 	[C]: in function 'coroutine.yield'
--| 	traceback.lua:54: in local 'deep'
--| 	traceback.lua:54: in function <traceback.lua:53>
--| with message
--| stack traceback:
--| 	[C]: in function 'coroutine.yield'
--| 	traceback.lua:54: in local 'deep'
--| 	traceback.lua:54: in function <traceback.lua:53>
--| stack traceback:
--| 	traceback.lua:54: in local 'deep'
--| 	traceback.lua:54: in function <traceback.lua:53>
--| m
--| stack traceback:
--| stack traceback:
--| 	[C]: in function 'error'
--| 	traceback.lua:54: in function <traceback.lua:53>
--| dead
--| inside
--| stack traceback:
--|   traceback.lua:60: in function <traceback.lua:60>

local function show(text)
  for line in text:gmatch("[^\n]+") do
    if line:find("main chunk") then break end print((line:gsub("^\t", "  ")))
  end
end
local function inner()
  show(debug.traceback("message")); show(debug.traceback("level 2", 2)); show(debug.traceback())
end
local t = { method = function(self) inner() end }
function global_function() t:method(); return 1 end
global_function()
print(debug.traceback(true), type(debug.traceback(5)), type(debug.traceback({})),
  debug.traceback(print) == print)
local co = coroutine.create(function(x)
  local function deep() coroutine.yield() end deep(); error("in coroutine")
end)
print(debug.traceback(co)); coroutine.resume(co); print(debug.traceback(co))
print(debug.traceback(co, "with message")); print(debug.traceback(co, nil, 1))
print(debug.traceback(co, "m", 100))
coroutine.resume(co); print(debug.traceback(co)); print(coroutine.status(co))
coroutine.wrap(function() show(debug.traceback("inside")) end)()
