-- A call without arguments and a return without results transfer no values, so `ftransfer` is 0
-- (6.10).
-- expect: ok
--| call 0 0
--| return 0 0
--| call 1 2
--| return 3 1
local function nothing() end
local function one(a, b) local c = a return c end
local seen = {}
local function hook(event)
  local info = debug.getinfo(2, "fr")
  if info.func == nothing or info.func == one then
    seen[#seen + 1] = event .. " " .. info.ftransfer .. " " .. info.ntransfer
  end
end
debug.sethook(hook, "cr")
nothing()
one(1, 2)
debug.sethook()
for _, line in ipairs(seen) do print(line) end
