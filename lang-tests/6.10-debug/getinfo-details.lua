-- debug.getinfo: every option and kind of function (6.10).
-- expect: ok
--| [S] lastlinedefined=79 linedefined=76 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| [l] currentline=-1
--| [u] isvararg=true nparams=2 nups=1
--| [n] namewhat=
--| [t] istailcall=false
--| [f] func=function
--| [r] ftransfer=0 ntransfer=0
--| [L] activelines=table
--| [Snlutfr] currentline=-1 ftransfer=0 func=function istailcall=false isvararg=true lastlinedefined=79 linedefined=76 namewhat= nparams=2 ntransfer=0 nups=1 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| [] 
--| [SS] lastlinedefined=79 linedefined=76 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| [fL] activelines=table func=function
--| [S] lastlinedefined=-1 linedefined=-1 short_src=[C] source==[C] what=C
--| [l] currentline=-1
--| [u] isvararg=true nparams=0 nups=0
--| [n] namewhat=
--| [t] istailcall=false
--| [r] ftransfer=0 ntransfer=0
--| [L] 
--| isvararg=true lastlinedefined=-1 linedefined=-1 nparams=0 nups=0 short_src=[C] source==[C] what=C
--| false	bad argument #2 to 'debug.getinfo' (invalid option '>')
--| false	bad argument #2 to 'debug.getinfo' (invalid option '>')
--| false	bad argument #2 to 'debug.getinfo' (invalid option)
--| false	bad argument #2 to 'debug.getinfo' (invalid option)
--| false	bad argument #2 to 'debug.getinfo' (invalid option)
--| true	nil
--| true	Lua
--| false	bad argument #2 to 'debug.getinfo' (string expected, got table)
--| false	bad argument #1 to 'debug.getinfo' (number expected, got table)
--| true	nil
--| false	bad argument #1 to 'debug.getinfo' (number has no integer representation)
--| nil	nil
--| currentline=92 istailcall=false lastlinedefined=0 linedefined=0 namewhat= short_src=getinfo-details.lua source=@getinfo-details.lua what=main
--| currentline=-1 lastlinedefined=-1 linedefined=-1 name=getinfo namewhat=field short_src=[C] source==[C] what=C
--| 1 2 3
--| nil
--| isvararg=true lastlinedefined=0 linedefined=0 nparams=0 nups=1 short_src=chunk source==chunk what=main
--| 1 3 5
--| activelines=table currentline=-1 lastlinedefined=0 linedefined=0 short_src=? source==? what=main
--| m/field	m/method	o/field	global/global
--| l/local	true	nil/	l/upvalue
--| g/local
--| l/upvalue
--| add/metamethod	sub/metamethod	mul/metamethod	div/metamethod	mod/metamethod	pow/metamethod	unm/metamethod	idiv/metamethod	band/metamethod	bor/metamethod	bxor/metamethod	shl/metamethod	shr/metamethod	bnot/metamethod	concat/metamethod	len/metamethod	index/metamethod	o/local
--| eq/metamethod lt/metamethod le/metamethod lt/metamethod newindex/metamethod close/metamethod
--| for iterator/for iterator
--| nil/
--| nil/
--| nil/
--| nil/
--| __gc/metamethod
--| currentline=130 istailcall=true lastlinedefined=130 linedefined=130 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| currentline=130 istailcall=false lastlinedefined=130 linedefined=130 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| Lua
--| istailcall=false lastlinedefined=0 linedefined=0 short_src=getinfo-details.lua source=@getinfo-details.lua what=main
--| lastlinedefined=-1 linedefined=-1 short_src=[C] source==[C] what=C
--| nil
--| currentline=-1 lastlinedefined=-1 linedefined=-1 name=yield namewhat=field short_src=[C] source==[C] what=C
--| currentline=135 lastlinedefined=135 linedefined=135 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| nil
--| lastlinedefined=79 linedefined=76 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua
--| currentline=-1 lastlinedefined=-1 linedefined=-1 name=error namewhat=global short_src=[C] source==[C] what=C
--| currentline=135 lastlinedefined=135 linedefined=135 short_src=getinfo-details.lua source=@getinfo-details.lua what=Lua

local function show(i, ...)
  if not i then return print(i) end local keys = {} for k in pairs(i) do keys[#keys + 1] = k end
  table.sort(keys)
  for n, k in ipairs(keys) do
    local v = i[k]
    keys[n] = k .. "=" .. ((type(v) == "function" or type(v) == "table") and type(v) or tostring(v))
  end
  print(table.concat(keys, " "))
end
local function f(a, b, ...)
  local up = show
  return a
end
for _, o in ipairs({ "S", "l", "u", "n", "t", "f", "r", "L", "Snlutfr", "", "SS", "fL" }) do
  io.write("[", o, "] "); show(debug.getinfo(f, o))
end
for _, o in ipairs({ "S", "l", "u", "n", "t", "r", "L" }) do
  io.write("[", o, "] "); show(debug.getinfo(print, o))
end
show(debug.getinfo(string.gsub, "Su"))
for _, o in ipairs({ ">", ">S", "X", "Sx", " ", "\0X", "S\0X" }) do
  local ok, r = pcall(debug.getinfo, f, o); print(ok, ok and tostring(r.what) or r)
end
print(pcall(debug.getinfo, f, {})); print(pcall(debug.getinfo, {})); print(pcall(debug.getinfo, -1))
print(pcall(debug.getinfo, 1.5)); print(debug.getinfo(1000), debug.getinfo(1e9 // 1 | 0))
show(debug.getinfo(1, "Slnt")); show(debug.getinfo(0, "Sln"))
local lines = {}
for l in pairs(debug.getinfo(f, "L").activelines) do
  lines[#lines + 1] = l - debug.getinfo(f, "S").linedefined
end
table.sort(lines); print(table.concat(lines, " ")); print(debug.getinfo(print, "L").activelines)
local chunk = load("local a\n\nlocal b = 1\n\nreturn b", "=chunk"); show(debug.getinfo(chunk, "Su"))
lines = {} for l in pairs(debug.getinfo(chunk, "L").activelines) do lines[#lines + 1] = l end
table.sort(lines); print(table.concat(lines, " "))
show(debug.getinfo(load(string.dump(chunk, true), "=stripped", "b"), "SlL"))
-- Names and how they are found.
local function name(level)
  local i = debug.getinfo(level or 2, "n"); return tostring(i.name) .. "/" .. i.namewhat
end
local t = { m = function(...) return (name()) end, n = { o = function() return (name()) end } }
global = t.m
print((t.m()), (t:m()), (t.n.o()), (global())); local l = t.m
print((l()), (pcall(l)), select(2, pcall(l)), (function() return (l()) end)())
print((function(g) return (g()) end)(l)); local u = function() return (l()) end; print(u())
local meta = {}
for _, e in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor",
  "shl", "shr", "bnot", "concat", "len", "eq", "lt", "le", "index", "call", "close",
  "newindex" }) do
  meta["__" .. e] = function() meta.seen = name(); return meta.seen end
end
local o, p = setmetatable({}, meta), setmetatable({}, meta)
print(o + 1, o - 1, o * 1, o / 1, o % 1, o ^ 1, -o, o // 1, o & 1, o | 1, o ~ 1, o << 1, o >> 1, ~o,
  o .. "x", #o, o.absent, o())
local _ = o == p; io.write(meta.seen, " "); _ = o < p; io.write(meta.seen, " "); _ = o <= p
io.write(meta.seen, " "); _ = o > 1; io.write(meta.seen, " "); o.x = 1; io.write(meta.seen, " ")
do local c <close> = o end print(meta.seen)
for _ in function() print(name()); return nil end do end
table.sort({ 1, 2 }, function() print(name()) return false end);
("x"):gsub("x", function() print(name()) end)
print(coroutine.wrap(function() return (name()) end)())
print(select(2, pcall(function() return (name()) end)))
setmetatable({}, { __gc = function() print(name()) end }); collectgarbage()
-- Tail calls, and levels of native functions.
local function tail() return debug.getinfo(1, "Slt") end local function caller() return tail() end
show(caller()); show(tail()); local function level2() return debug.getinfo(2, "St") end
print(select(2, pcall(function() return (level2()) end)).what)
show((function() return level2() end)()); local i = table.pack(pcall(debug.getinfo, 1, "S"))[2]
show(i)
local co = coroutine.create(function(x) local y = x; coroutine.yield(y); error("x") end)
print(debug.getinfo(co, 0)); coroutine.resume(co, 5); show(debug.getinfo(co, 0, "Sln"))
show(debug.getinfo(co, 1, "Sl")); print(debug.getinfo(co, 2)); show(debug.getinfo(co, f, "S"))
coroutine.resume(co); show(debug.getinfo(co, 0, "Sln")); show(debug.getinfo(co, 1, "Sl"))
