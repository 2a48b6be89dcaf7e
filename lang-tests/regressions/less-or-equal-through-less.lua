-- `a <= b` that calls `__lt` shows no function but the metamethod.
-- expect: ok
--| false	less-or-equal-through-less.lua:19: bad
--| metamethod	le	less-or-equal-through-less.lua	28
--| trace
--| stack traceback:
--| 	less-or-equal-through-less.lua:28: in local 'compare'
--| z	z
--| true
--| return call return call
--| 1
--| 1
--| 1
--| false	true	false
--| false	less-or-equal-through-less.lua:54: C stack overflow

local mt = { __lt = function() error("bad", 2) end }
local a, b = setmetatable({}, mt), setmetatable({}, mt)
print(pcall(function() return a <= b end))

mt.__lt = function()
  local info, caller = debug.getinfo(1, "n"), debug.getinfo(2, "Sl")
  print(info.namewhat, info.name, caller.short_src, caller.currentline)
  print((debug.traceback("trace", 2):match("^[^\n]*\n[^\n]*\n[^\n]*")))
  print(debug.getlocal(2, 1))
  return true
end
local function compare(z) if a <= b then return 1 end end
compare "z"

local function depth()
  local n = 0
  while debug.getinfo(n) do n = n + 1 end
  return n
end
local less, less_or_equal
mt.__lt = function() less = depth() return true end
local r = a < b
mt.__lt = function() less_or_equal = depth() return true end
r = a <= b
print(less == less_or_equal)

mt.__lt = function() return true end
local events = {}
debug.sethook(function(event) events[#events + 1] = event end, "cr")
r = a <= b
debug.sethook()
print(table.concat(events, " "))

mt.__lt = function() return coroutine.yield(1) end
local co = coroutine.wrap(function() return a <= b, a >= b, not (a <= b) end)
print(co()) print(co(true)) print(co(nil)) print(co(nil))

mt.__lt = function(a, b) return a <= b end
print(pcall(function() return a <= b end))
