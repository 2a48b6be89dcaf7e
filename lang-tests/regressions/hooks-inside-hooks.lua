-- A hook or a finalizer that sets a hook gets no events of its own.
-- expect: ok
--| 4
--| 1	2
--| 0

local n = 0
local function hook()
  n = n + 1
  debug.sethook()
  if n < 20 then debug.sethook(hook, "l") end
  local x = 1
  local y = 2
end
debug.sethook(hook, "l")
local a = 1
local b = 2
local c = 3
debug.sethook()
print(n)

-- the values that a function returns, after its return hook has set itself again
local function two() return 1, 2 end
local seen
local function note()
  debug.sethook()
  debug.sethook(note, "r")
  local info = debug.getinfo(2, "rf")
  if info.func == two then
    seen = { select(2, debug.getlocal(2, info.ftransfer)), info.ntransfer }
  end
end
debug.sethook(note, "r")
two()
debug.sethook()
print(table.unpack(seen))

local first = debug.getinfo(1, "l").currentline
local inside = 0
setmetatable({}, { __gc = function()
  debug.sethook(function(_, line)
    if line - first == 6 or line - first == 7 then inside = inside + 1 end
  end, "l")
  local x = 1
  local y = 2
end })
collectgarbage() collectgarbage()
debug.sethook()
print(inside)
