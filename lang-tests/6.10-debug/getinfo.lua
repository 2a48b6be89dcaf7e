-- debug.getinfo's fields for Lua and builtin functions (6.10).
-- expect: ok
--| f	local	Lua	getinfo.lua	@getinfo.lua	15	15	15	1	2	true	false	true
--| C	[C]	=[C]	-1	-1	0	0	true
--| main	0	0
--| nil	false	bad argument #2 to 'debug.getinfo' (invalid option)
--| false	bad argument #1 to 'debug.getinfo' (number expected, got no value)
--| 23
--| true	true
--| a	c	(temporary)
--| a	nil
--| f
--| nil

local function f(a, b, ...) local i = debug.getinfo(1, "nSlutf"); return i end
local i = f()
print(i.name, i.namewhat, i.what, i.short_src, i.source, i.linedefined, i.lastlinedefined,
  i.currentline, i.nups, i.nparams, i.isvararg, i.istailcall, i.func == f)
i = debug.getinfo(print)
print(i.what, i.short_src, i.source, i.currentline, i.linedefined, i.nups, i.nparams, i.isvararg)
i = debug.getinfo(1, "S"); print(i.what, i.linedefined, i.lastlinedefined)
print(debug.getinfo(100), pcall(debug.getinfo, 1, "X")); print(pcall(debug.getinfo))
print(debug.getinfo(1, "l").currentline)
local function tail() return f() end
print(tail().istailcall, next(debug.getinfo(1, "L").activelines) ~= nil)
local function locals(a, b)
  local c = 3; return debug.getlocal(1, 1), debug.getlocal(1, 3), (debug.getlocal(1, 4))
end
print(locals(1, 2)); print(debug.getlocal(locals, 1), debug.getlocal(locals, 3))
print((debug.getupvalue(function() return f end, 1)))
print(debug.getupvalue(print, 1), debug.setupvalue(locals, 9, 1))
