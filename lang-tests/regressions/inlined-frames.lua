-- What looks at frames from inside functions that may be inlined: tracebacks, levels, local
-- variables, hooks, errors, yields, and stacks that grow.
-- expect: ok
--| 155	kept 90
--| 107585
--| kept 4
--| 4
local log = {}
local function note(...) log[#log + 1] = table.concat({ ... }, " ") end

local function line() return debug.getinfo(2, "l").currentline end
local function where(on) if on then note("at", line()) end return 1 end
local function outer_where(i) local n = where(i % 50 == 0) return n + where(i % 25 == 0) end

local function trace(on)
  if not on then return end
  -- what runs the tests may have levels of its own below
  return table.concat({ debug.traceback("t"):match((":(%d+): in.-"):rep(3)) }, " ")
end
local function outer_trace(on)
  local t = trace(on)
  return t
end

local function set(on, v) if on then debug.setlocal(3, 2, v) end return v end
local function set_by(on, v) local w = set(on, v) return w end
local function outer_set(on, v)
  local kept = "kept"
  local w = set_by(on, v)
  return kept, w
end

local function fail(on) if on then error("failed") end return 2 end
local function outer_fail(on) local r = fail(on) return r + 1 end

local function give(on, v) if on then return coroutine.yield(v) end return v end
local function give_twice(on, v) local a = give(on, v) local b = give(on, a) return a, b end
local function outer_give(on, v) local a, b = give_twice(on, v) return a + b end

local function down(n, on)
  if n == 0 then return on and #debug.traceback() > 0 and 1 or 1 end
  return 1
end
local function deep(n, on)
  if n == 0 then return down(0, on) end
  return down(1, on) + deep(n - 1, on)
end

local function max(a, b) if a > b then return a end return b end
local function loop(t, f) local s = 0 for i = 1, #t do s = f(s, t[i]) end return s end
local function largest(t) return (loop(t, max)) end

for i = 1, 90 do
  local last = i % 7 == 3
  outer_where(last and 50 or 1)
  if last then note(outer_trace(true) or "") else outer_trace(false) end
  note(outer_set(last, i))
  local ok, e = pcall(outer_fail, last)
  if last then note(tostring(ok), (tostring(e):gsub("^.*:(%d+:)", "%1"))) end
  local co = coroutine.wrap(outer_give)
  local v = co(last, i)
  if last then v = co(v + 1) v = co(v + 1) end
  if last then note(v) end
  if deep(i % 40, last) ~= i % 40 + 1 then note("deep", i) end
  if largest({ i, 3, i + 1, 2.5 }) ~= math.max(i + 1, 3) then note("largest", i) end
end
print(#log, log[#log])
local sum = 0
for _, entry in ipairs(log) do
  for b in entry:gmatch(".") do sum = (sum * 31 + b:byte()) % 1000003 end
end
print(sum)
print(log[9])

local counts = 0
local function leaf(x) return x + 1 end
local function calls(x) local y = leaf(x) return leaf(y) end
for i = 1, 60 do calls(i) end
debug.sethook(function() counts = counts + 1 end, "c")
calls(1)
debug.sethook()
print(counts)
