-- covers: the current line in hooks for calls of variadic functions and returns of tail calls
-- expect: ok
--| call	1
--| return	2
--| call	2
--| return	2
--| tail call	2
--| return	2
--| call	1
--| return	1
--| 2

local subject, first

local function hook(event)
  local info = debug.getinfo(2, "fSl")
  if info.func == subject then print(event, info.currentline - info.linedefined) end
end

local function with_hook(f)
  subject = f
  debug.sethook(hook, "cr")
  f(1, 2)
  debug.sethook()
end

with_hook(function(a)
  local b = a
  return b
end)
with_hook(function(...)

  local b = ...; return b
end)

local function variadic(...)

  local b = ...; return b
end
subject = variadic
local function caller(...) return variadic(...) end
debug.sethook(hook, "cr")
caller(1)
debug.sethook()

-- the tail call of a function of the library returns from the function
with_hook(function(a)
  return select(
    a,
    2,
    3
  )
end)

-- an error in the hook is raised at the same place
debug.sethook(function(event)
  if debug.getinfo(2, "f").func == variadic then error("expected") end
end, "c")
local _, trace = xpcall(variadic, debug.traceback)
debug.sethook()
local line = tonumber(trace:match(":(%d+): in function <"))
print(line - debug.getinfo(variadic, "S").linedefined)
