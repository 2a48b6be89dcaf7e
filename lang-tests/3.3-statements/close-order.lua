-- To-be-closed variables are closed in reverse order at every exit (3.3.8).
-- expect: ok
--| in block	5	nil	false
--| close b	nil
--| close a	nil
--| close r2	nil
--| close r1	nil
--| one	two
--| close loop 1	nil
--| second round
--| close loop 2	nil
--| close while	nil
--| close repeat	nil
--| innermost
--| close inner	nil
--| between
--| close outer	nil

local function c(name)
  return setmetatable({}, { __close = function(v, e) print("close " .. name, e) end })
end
do
  local a <close> = c("a")
  local b <close>, x = c("b"), 5
  local n <close> = nil
  local f <close> = false
  print("in block", x, n, f)
end
local function returning()
  local a <close> = c("r1")
  local b <close> = c("r2")
  return "one", "two"
end
print(returning())
for i = 1, 2 do
  local l <close> = c("loop " .. i)
  if i == 1 then goto continue end
  print("second round")
  ::continue::
end
while true do local w <close> = c("while"); break end
repeat local r <close> = c("repeat"); local done = true until done
do
  local v <close> = c("outer")
  do local v <close> = c("inner"); print("innermost") end
  print("between")
end
