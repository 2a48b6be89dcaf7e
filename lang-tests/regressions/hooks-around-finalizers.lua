-- A finalizer that runs between two rounds of a loop does not hide the line event of the next
-- round, and its instructions are not counted: when the collector runs is not the program's
-- decision.
-- expect: ok
--| lines	400	1
--| counts	true

local function trash()
  setmetatable({}, { __gc = function() local x = 0 for i = 1, 20 do x = x + i end end })
end

local lines = {}
local function note(_, line) lines[#lines + 1] = line end
local run = load("for i = 1, 100 do a = make() end", "=loop")
make = function() trash() return {} end
local counted, on_one = 0, 0
for _ = 1, 4 do
  for i = 1, #lines do lines[i] = nil end
  debug.sethook(function(_, line)
    local info = debug.getinfo(2, "S")
    if info.source == "=loop" then
      counted = counted + 1
      on_one = line
      collectgarbage("step", 1)
    end
  end, "l")
  run()
  debug.sethook()
end
print("lines", counted, on_one)

-- A loop without allocations: objects that are dead before it are finalized in it or not.
for _ = 1, 50 do trash() end
local n = 0
debug.sethook(function() n = n + 1 end, "", 1)
n = 0
for _ = 1, 1000 do end
debug.sethook()
print("counts", 1000 < n and n < 1012)
