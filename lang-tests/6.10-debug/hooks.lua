-- debug.sethook and gethook: calls, returns, lines and counts (6.10).
-- expect: ok
--| calls	call:Lua:leaf:nil call:C:abs:nil call:Lua:flush:nil call:C:sethook:nil
--| returns	return:C:sethook:nil return:Lua:leaf:nil return:C:abs:nil
--| tail call	return:C:sethook:nil call:Lua:nil:nil tail call:Lua:nil:nil return:Lua:nil:nil call:Lua:flush:nil call:C:sethook:nil
--| lines	line:2 line:3 line:4 line:3 line:4 line:3 line:6 line:8 line:10 line:8 line:-7 line:11 line:-8
--| body	0 1 1 1 3 3 3 5 -20
--| nil
--| true	crl	100
--| 	7
--| nil
--| nil
--| crl	0
--| 1	0
--| true	true
--| false	from the hook
--| false	hooks.lua:81: with position
--| false	stop
--| 0	nil	function
--| 3
--| 3
--| false	bad argument #3 to 'debug.sethook' (string expected, got no value)
--| false	bad argument #2 to 'debug.sethook' (string expected, got no value)
--| false	bad argument #2 to 'debug.sethook' (string expected, got table)
--| false	bad argument #3 to 'debug.sethook' (number expected, got string)
--| false	bad argument #1 to 'debug.sethook' (function expected, got number)
--| locals in the hook	return call x return call label call
--| traceback in the hook	local 'leaf' local 'flush' function 'debug.sethook'
--| return0,0 call1,1 return1,1 call0,0 return1,3 call1,2 return3,1 call0,0
--| return0,0 line0,0 call1,1 line0,0 return1,1 call0,0
local log = {}
local function add(...) log[#log + 1] = table.concat({ ... }, ":") end
local function flush(label) debug.sethook(); print(label, table.concat(log, " ")); log = {} end
local function leaf(x) return x end
local function hooked(event, line)
  local i = debug.getinfo(2, "nSl"); add(event, i.what, tostring(i.name), tostring(line))
end
debug.sethook(hooked, "c"); leaf(1); math.abs(1); flush("calls")
debug.sethook(hooked, "r"); leaf(1); math.abs(1); flush("returns")
debug.sethook(hooked, "cr"); (function() return leaf(1) end)(); flush("tail call")
local base = debug.getinfo(1, "l").currentline
debug.sethook(function(event, line) add(event, line - base) end, "l")
local x = 1
for i = 1, 2 do
  x = x + i
end
if x > 100 then
  x = 0
else x = 5 end leaf(
  x
)
flush("lines")
local function body() local a = 1
  while a < 3 do a = a + 1
  end
  repeat a = a - 1 until a < 1
  return
    a
end
base = debug.getinfo(body, "S").linedefined
debug.sethook(function(event, line) add(line - base) end, "l"); body(); flush("body")
print(debug.gethook()); local hook = function() end; debug.sethook(hook, "crl", 100)
local h, mask, count = debug.gethook(); print(h == hook, mask, count); debug.sethook(hook, "", 7)
print(select(2, debug.gethook())); debug.sethook(hook, "xyz"); print(debug.gethook())
debug.sethook(nil, "crl"); print(debug.gethook()); debug.sethook(hook, "lrc")
print(select(2, debug.gethook())); debug.sethook()
print(select("#", debug.gethook()), select("#", debug.sethook()))
-- Counts: about every so many instructions; not again while the hook runs.
local n = 0
debug.sethook(function(event, line)
  n = n + 1; assert(event == "count" and line == nil); for i = 1, 1000 do end
end, "", 100)
for i = 1, 1e5 do end; debug.sethook(); print(n > 500, n < 5000)
-- Errors in a hook come out of the code that runs; a hook stays with its coroutine.
print(pcall(function()
  debug.sethook(function() debug.sethook(); error("from the hook", 0) end, "l")
  local a = 1
  return a
end))
print(pcall(function()
  debug.sethook(function() debug.sethook(); error("with position") end, "c"); leaf()
end))
local ok, e = pcall(function()
  debug.sethook(function() error("stop", 0) end, "", 1000); while true do end
end)
debug.sethook(); print(ok, e)
local co = coroutine.create(function() leaf(1); coroutine.yield(); leaf(2) end); local seen = 0
debug.sethook(co, function() seen = seen + 1 end, "c"); leaf(1)
print(seen, debug.gethook(), type(debug.gethook(co))); coroutine.resume(co); print(seen)
debug.sethook(co); coroutine.resume(co); print(seen); print(pcall(debug.sethook, co, hook))
print(pcall(debug.sethook, hook)); print(pcall(debug.sethook, hook, {}))
print(pcall(debug.sethook, hook, "c", "x")); print(pcall(debug.sethook, 5, "c")); debug.sethook()
debug.sethook(function(e)
  -- What a native function has pushed is its own.
  local is_lua = debug.getinfo(2, "S").what == "Lua"
  add(e); if e == "call" and is_lua then add(tostring(debug.getlocal(2, 1))) end
end, "cr")
leaf("arg"); flush("locals in the hook")
debug.sethook(function() add(debug.traceback("t", 2):match("in ([^\n]+)")) end, "c"); leaf(1)
flush("traceback in the hook")
local inside = {}
debug.sethook(function(e)
  local r = debug.getinfo(2, "r"); inside[#inside + 1] = e .. r.ftransfer .. "," .. r.ntransfer
end, "cr")
leaf("a"); (function(...) return 1, 2, ... end)(3); math.max(5, 6); debug.sethook()
print(table.concat(inside, " "))
-- Only call and return events transfer values.
inside = {}
debug.sethook(function(e)
  local r = debug.getinfo(2, "r"); inside[#inside + 1] = e .. r.ftransfer .. "," .. r.ntransfer
end, "crl")
leaf("a"); debug.sethook()
print(table.concat(inside, " "))
