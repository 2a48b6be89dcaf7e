-- expect: ok
--| 55912
--| 335 867 320 311 300 315
--| 3	90
--| false	true
--| 84 at two
--| 21 attempt to compare number with nil
--| 84 attempt to call a nil value (for iterator 'for iterator')
--| 84 attempt to call a number value (for iterator 'for iterator')
--| 21 attempt to compare table with number
--| for iterator	for iterator	94	84
--| in for iterator 'for iterator'
--| 0	1	2	3	4	sum 10
--| nil	2	0	end 2 error
--| r r c r c c
--| function 9 0 nil function 9 1 nil function 9 2 nil
--| 2 7 12 17 22
-- Iterators that are Lua functions are entered without the runtime, unless something has to be done
-- before they run.

local function upto(s, c) if c < s then return c + 1 end end
local function pair(s, c) if c < s then return c + 1, c * 2, "third", "fourth" end end
local function third(s, c, x) if c < s then return c + 1, x == nil end end
local function any(...)
  local s, c = ...
  if c < s then return c + 1, select("#", ...) end
end
local function counter(n) local i = 0 return function() if i < n then i = i + 1 return i end end end
local function each(t, i) i = i + 1 local v = t[i] if v ~= nil then return i, v end end
local function nothing() end
local function tail(s, c) return pair(s, c) end

-- numbers of results and of parameters
local function run(n)
  local s = 0
  for i in upto, n, 0 do s = s + i end
  for i, a, b, c, d, e in pair, n, 0 do s = s + a + #b + #c + (d or 1) + (e or 2) end
  for i, a in upto, n, 0 do s = s + (a or 3) end
  for i in pair, n, 0 do s = s + i end
  for i, absent in third, n, 0 do s = s + (absent and 5 or 0) end
  for i, count in any, n, 0 do s = s + count end
  for i in counter(n) do s = s + i end
  for i, v in each, { 1, 2, 3 }, 0 do s = s + v end
  for i, a in tail, n, 0 do s = s + a end
  for _ in nothing do s = -1 end
  return s
end
local total = 0
for n = 1, 200 do total = total + run(n % 12) end
print(total)

-- several iterators in one loop, among them ones of the library and called objects
local object = setmetatable({}, { __call = function(self, s, c) return upto(s, c) end })
local iterators = { upto, pair, third, any, object, coroutine.wrap(function(s, c)
  while true do s, c = coroutine.yield(upto(s, c)) end
end) }
local sums = {}
for n = 1, 240 do
  local s = 0
  for i in iterators[n % #iterators + 1], n % 7, 0 do s = s + i end
  sums[n % #iterators] = (sums[n % #iterators] or 0) + s
end
for n = 1, 60 do
  for k, v in (n % 2 == 0 and each or next), { 4, 5 }, (n % 2 == 0 and 0 or nil) do
    sums[1] = sums[1] + v
  end
end
print(table.concat(sums, " ", 0))

-- loops in iterators, calls in loops, and deep recursion, for which the stack grows
local function depth(n)
  if n == 0 then return 0 end
  local d
  for v in function(s, c) if not c then return depth(n - 1) end end do d = v end
  return d + 1
end
print(depth(3), depth(90))
local function endless() for _ in endless do end end
local ok, message = pcall(endless)
print(ok, message:find("stack overflow", 1, true) ~= nil)

-- errors and tracebacks
local function failing(s, c) if c == 2 then error("at two", 2) end return c + 1 end
local function fails(f, s, c) for i in f, s, c do end end
local function text(...) return (select(2, pcall(...)):gsub("^.-:(%d+): ", "%1 ")) end
for _ = 1, 3 do fails(upto, 3, 0) end
print(text(fails, failing, nil, 0))
print(text(fails, upto, nil, 0))
print(text(fails, nil))
print(text(fails, 5, 1, 2))
print(text(function() for i in upto, 3, {} do end end))
local function traced(s, c)
  if c == 1 then
    local info = debug.getinfo(1, "nSl")
    print(info.namewhat, info.name, info.currentline, debug.getinfo(2, "l").currentline)
    print((debug.traceback("trace"):match("trace\n[^\n]*\n[^\n]*"):gsub("[^\n]*regressions/", "")
      :gsub("'for iterator'.*$", "'for iterator'"):gsub("^.*in ", "in ")))
  end
  return upto(s, c)
end
fails(traced, 2, 0)

-- yields, and closing values
local function yielding(s, c) coroutine.yield(c) return upto(s, c) end
local co = coroutine.wrap(function()
  local n = 0
  for i in yielding, 4, 0 do n = n + i end
  return "sum " .. n
end)
print(co(), co(), co(), co(), co(), co())
local closed = {}
local function closing(n, stop)
  local guard = setmetatable({}, { __close = function(_, e)
    closed[#closed + 1] = e and "error" or stop or "end"
  end })
  for i in upto, n, 0, guard do
    if i == stop then return i end
    if i == 7 then error("seven") end
  end
end
print(closing(3), closing(5, 2), pcall(closing, 9, 8) and 1 or 0, table.concat(closed, " "))

-- hooks that come and go
local events = {}
local function observed(s, c)
  if c == 2 then debug.sethook(function(e) events[#events + 1] = e:sub(1, 1) end, "cr") end
  if c == 4 then debug.sethook() end
  return (c < s and c + 1 or nil)
end
for i in observed, 6, 0 do end
print(table.concat(events, " "))

-- the state of the loop stays what it is
local function state()
  local seen = {}
  local function look(s, c)
    for n = 1, 20 do
      local name, v = debug.getlocal(2, n)
      if not name then break end
      if name:find("^%(for state") then seen[#seen + 1] = type(v) == "number" and v or type(v) end
    end
    s, c = s - 1, c + 1
    if c <= 2 then return c end
  end
  for i in look, 9, 0 do end
  return table.concat(seen, " ")
end
print(state())

-- variables of the loop in closures, and garbage
local functions = {}
for i, v in function(s, c) if c < 5 then return c + 1, { c } end end, nil, 0 do
  functions[i] = function() i = i + v[1] return i end
  collectgarbage("step")
end
local values = {}
for i = 1, 5 do values[i] = functions[i]() + functions[i]() end
print(table.concat(values, " "))
