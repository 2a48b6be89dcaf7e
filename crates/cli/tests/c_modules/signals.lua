-- Checks the hooks of signals.c.
local signals = require "signals"

local function same(got, want)
  if got ~= want then error(("%s instead of %s"):format(got, want), 2) end
end

-- a loop is stopped by a signal, wherever it is
local function stopped(f, co)
  signals.interrupt(20000, co)
  local ok, message = pcall(f)
  same(ok, false)
  same(message:match "interrupted!$", "interrupted!")
end
stopped(function() while true do end end)
stopped(function() local i = 0 while true do i = i + 1 end end)
stopped(function() local t = {} while true do t = { t } t = {} end end)
stopped(function() while true do string.rep("x", 100) end end)
local function deep(n) return n == 0 and 0 or 1 + deep(n - 1) end
stopped(function() while true do deep(50) end end)
local co
co = coroutine.create(function() while true do coroutine.yield() end end)
coroutine.resume(co)
stopped(function()
  while true do
    local ok, message = coroutine.resume(co)
    if not ok then error(message, 0) end
  end
end, co)
same(coroutine.status(co), "dead")
-- a coroutine that was freed before its hook was installed
stopped(function()
  for _ = 1, 3 do signals.settings() collectgarbage() end
  while true do end
end)

-- hooks that are set all the time, while the program goes on and sets others
signals.sample(10000)
local sum = 0
for i = 1, 30000 do
  local t = { i }
  sum = sum + #t + select("#", table.unpack(t))
  if i % 1000 == 0 then
    local c = coroutine.wrap(function(x) coroutine.yield(x) return x end)
    sum = sum + c(0)
  end
end
same(sum, 60000)
local ran, handled = signals.sample(0)
assert(ran <= handled and (ran > 0 or handled < 3), ran)

same(signals.settings(), true)

-- a hook for lines that one for a count sets begins with the next line
local lines = {}
local function note(_, line) lines[#lines + 1] = line end
debug.sethook(function() debug.sethook(note, "l") end, "", 3)
local a = 1
a = 1
a = 1
a = 1
a = 1
debug.sethook()
for i = 2, #lines do same(lines[i], lines[1] + i - 1) end
same(#lines, 3)

-- a hook that yields
co = coroutine.create(function(a)
  local b = a + 1
  local c = b * 2
  return c
end)
signals.yield_at_lines(co)
local resumes, ok, result = 0, nil, nil
repeat
  ok, result = coroutine.resume(co, 20)
  same(ok, true)
  resumes = resumes + 1
until coroutine.status(co) == "dead"
same(result, 42)
same(resumes, 4)
print "ok"
