-- covers: the values of call and return events in hooks that leave their work to a tail call
-- expect: ok
--| call	1	2	x	y
--| return	3	2	x	z
--| return	1	3	1	2	3

local subject

local function show(event)
  local info = debug.getinfo(2, "fr")
  if info.func ~= subject then return end
  local values = {}
  for i = info.ftransfer, info.ftransfer + info.ntransfer - 1 do
    values[#values + 1] = select(2, debug.getlocal(2, i))
  end
  print(event, info.ftransfer, info.ntransfer, table.unpack(values))
end

local function with_hook(f, ...)
  subject = f
  debug.sethook(function(event) return show(event) end, "cr")
  f(...)
  debug.sethook()
end

with_hook(function(a, b) return a, "z" end, "x", "y")

-- the results take more room than the function's registers
subject = function(...) return ... end
debug.sethook(function(event) return show(event) end, "r")
subject(1, 2, 3)
debug.sethook()
