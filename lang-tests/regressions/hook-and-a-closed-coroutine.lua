-- Closing a coroutine runs its handlers with its own hook, and leaves that of the closer as it was.
-- expect: ok
--| return C sethook
--| call Lua f
--| call C close
--| return C close
--| call C abs
--| return C abs
--| return Lua f
--| call C sethook
--| return C sethook
--| call Lua f
--| call Lua suspended
--| call C create
--| return C create
--| call C resume
--| return C resume
--| return Lua suspended
--| call C close
--| return C close
--| call C abs
--| return C abs
--| return Lua f
--| call C sethook
--| true	3
--| 3	nil
--| true	6
--| 6	nil
--| false	in the handler
--| return C sethook
--| call Lua f
--| call C close
--| return C close
--| call C print
--| return C print
--| call C abs
--| return C abs
--| return Lua f
--| call C sethook

local function suspended(handler)
  local co = coroutine.create(function()
    local c <close> = setmetatable({}, {__close = handler})
    coroutine.yield()
  end)
  coroutine.resume(co)
  return co
end

local function events(f)
  local log = {}
  debug.sethook(function(e)
    local d = debug.getinfo(2, "nS")
    log[#log + 1] = e .. " " .. d.what .. " " .. tostring(d.name)
  end, "cr")
  f()
  debug.sethook()
  return table.concat(log, "\n")
end

-- a handler that takes its own hook away
local co = suspended(function() debug.sethook() end)
print(events(function() coroutine.close(co) math.abs(1) end))

-- made under a hook: the coroutine has it too
print(events(function()
  local co = suspended(function() math.abs(2) end)
  coroutine.close(co)
  math.abs(3)
end))

-- a hook of the coroutine's only
local count = 0
local co = suspended(function() math.abs(4) math.abs(5) end)
debug.sethook(co, function() count = count + 1 end, "c")
print(coroutine.close(co), count)
math.abs(6)
print(count, debug.gethook())

-- a handler that sets a hook: it ends with the coroutine
local co = suspended(function()
  debug.sethook(function() count = count + 1 end, "r") math.abs(7)
end)
print(coroutine.close(co), count)
math.abs(8)
print(count, debug.gethook())

-- one that raises an error under the closer's hook
local co = suspended(function() error("in the handler", 0) end)
print(events(function() print(coroutine.close(co)) math.abs(9) end))
