-- Checks the functions of threads.c.
local threads = require "threads"

local function same(want, ...)
  local got = table.pack(...)
  for i = 1, math.max(got.n, #want) do
    if got[i] ~= want[i] then
      error(("value %d is %s, not %s"):format(i, tostring(got[i]), tostring(want[i])), 2)
    end
  end
end

-- C code that changes the values of the function that resumes
threads.save()
for n = 0, 3 do
  local function replacing(fails)
    return function(...)
      threads.replace(n)
      coroutine.yield(...)
      threads.replace(n)
      if fails then error("failed", 0) end
      return "x", ...
    end
  end
  local co = coroutine.create(replacing())
  same({ true, 1, 2 }, coroutine.resume(co, 1, 2))
  same({ true, "x", 1, 2 }, coroutine.resume(co))
  co = coroutine.create(replacing(true))
  same({ true }, (coroutine.resume(co)))
  same({ false, "failed" }, coroutine.resume(co))
  local f = coroutine.wrap(replacing())
  same({ 1 }, f(1))
  same({ "x", 1 }, f())
  f = coroutine.wrap(replacing(true))
  same({}, f())
  same({ false, "failed" }, pcall(f))
  f = coroutine.wrap(function() threads.replace(n) error("at once", 0) end)
  same({ false, "at once" }, pcall(f))
end

-- errors that leave a call of another coroutine
local get, set, closed
local function failing(argument)
  get = function() return argument end
  set = function(x) argument = x end
  local z <close> = setmetatable({}, { __close = function(_, e) closed = e end })
  error("failed", 0)
end
local function count(...)
  set "changed"
  return select("#", ...)
end
for i = 1, 1000 do
  local co = threads.thread()
  same({ false, "failed" }, pcall(threads.call, co, failing, "argument", 2))
  same({ "argument", "failed" }, get(), closed)
  same({ false, false }, (coroutine.resume(co)), (coroutine.close(co)))
  closed = nil
end
for n = 1, 3 do
  -- the saved coroutine, which has resumed: in PUC, it catches the error
  local co = coroutine.create(function()
    pcall(threads.call, nil, failing, "argument", 2)
    return n
  end)
  local a, b = { pcall(coroutine.resume, co) }, "b"
  same({ "b", "argument", "failed" }, b, get(), closed)
  if a[1] then same({ true, true, n }, table.unpack(a)) end
  same({ 60, 60 }, count(table.unpack({}, 1, 60)), count(table.unpack({}, 1, 60)))
  same({ "changed" }, get())
  closed = nil
end

local co

-- functions that a hook calls cannot yield
local function yielding()
  threads.yield_in_hook()
  local x = 1
  return threads.was_refused()
end
same({ true, true }, yielding(), coroutine.wrap(yielding)())

-- a coroutine that was last resumed below many native calls
local function below(n, f)
  if n == 0 then return f() end
  local inner = f
  table.sort({ 1, 2 }, function(a, b)
    if inner then below(n - 1, inner) end
    inner = nil
    return a < b
  end)
end
co = coroutine.create(function() return 1 end)
below(100, function() coroutine.resume(co) end)
local results
threads.call(co, function()
  results = { pcall(error, "failed", 0), (select(2, pcall(pcall, 5))) }
end)
same({ false, false }, results[1], results[2])
co = nil

-- a coroutine that has not begun stays as it is when there are too many arguments
co = threads.above(function(...) return select("#", ...) end, 500000)
same({ false, "too many arguments to resume" }, coroutine.resume(co, table.unpack({}, 1, 600000)))
same({ "suspended", 500002 }, coroutine.status(co), select("#", coroutine.resume(co, 1, 2)))

-- a coroutine that C code makes does not inherit a hook of Lua code
local lines = 0
debug.sethook(function() lines = lines + 1 end, "l")
co = threads.thread()
debug.sethook()
threads.call(co, function()
  lines = 0
  local x = 1
end)
same({ 0 }, lines)

-- coroutines inherit a hook of C code from their creator
local function endless() while true do end end
local running = coroutine.running()
threads.limit(1000)
local hook, mask, count = debug.gethook()
local limited = threads.is_limited(running)
local outer, message = pcall(coroutine.wrap(endless))
local made = coroutine.create(function() coroutine.wrap(endless)() end)
local inner = coroutine.resume(made)
local inherits = threads.is_limited(made)
threads.limit(0)
same({ "external hook", "", 1000, true }, hook, mask, count, limited)
same({ false, 42, false, true }, outer, message, inner, inherits)
same({ nil, false }, debug.gethook(), threads.is_limited(running))
threads.limit(1000000)
debug.sethook()
same({ false }, threads.is_limited(running))
print "ok"
