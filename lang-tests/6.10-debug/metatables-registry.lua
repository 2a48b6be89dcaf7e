-- Metatables, user values and the registry through debug, and traceback (6.10).
-- expect: ok
--| number	true	true
--| string	true	true
--| boolean	true	true
--| function	true	true
--| userdata	true	true
--| thread	true	true
--| table	true	true
--| nil.field	true
--| false	metatables-registry.lua:63: attempt to index a nil value
--| table	true	nil
--| function field	nil
--| true	false	2
--| false	bad argument #2 to 'debug.setmetatable' (nil or table expected, got number)
--| false	bad argument #2 to 'debug.setmetatable' (nil or table expected, got no value)
--| false	bad argument #1 to 'debug.getmetatable' (value expected)
--| nil	nil
--| nil
--| nil	nil	nil
--| nil
--| nil
--| false	bad argument #1 to 'debug.setuservalue' (userdata expected, got table)
--| false	bad argument #2 to 'debug.setuservalue' (value expected)
--| false	bad argument #1 to 'debug.setuservalue' (userdata expected, got number)
--| false	bad argument #2 to 'debug.getuservalue' (number expected, got string)
--| table	true	thread	true	true	true
--| 1
--| true	true
--| true	true
--| true	true
--| true	true
--| m
--| stack traceback:
--| stack traceback:
--| 12
--| stack traceback:
--| false	bad argument #2 to 'debug.traceback' (number expected, got string)
--| false	bad argument #2 to 'debug.traceback' (number has no integer representation)
--| fresh
--| stack traceback:
--| stack traceback:
--| stack traceback:
--| true
--| 23	...	(skipping 9 levels)	deep
--| stack traceback:
--| 	metatables-registry.lua:91: in upvalue 'deep'
--| 7	nil
--| 22	...	(skipping 21 levels)
--| 6
--| debug gethook getinfo getlocal getmetatable getregistry getupvalue getuservalue setcstacklimit sethook setlocal setmetatable setupvalue setuservalue traceback upvalueid upvaluejoin
--|
--| function	true	200
--& lua_debug> 

for _, v in ipairs({ 1, "x", true, print, io.stdout, coroutine.create(print), {} }) do
  local old = debug.getmetatable(v); local meta = {}
  print(type(v), debug.setmetatable(v, meta) == v, debug.getmetatable(v) == meta)
  debug.setmetatable(v, old)
end
debug.setmetatable(nil, { __index = function(_, k) return "nil." .. k end })
print((nil).field, debug.getmetatable(nil) ~= nil); debug.setmetatable(nil, nil)
print(pcall(function() return (nil).field end))
local protected = setmetatable({}, { __metatable = "p" })
print(type(debug.getmetatable(protected)), debug.setmetatable(protected, nil) == protected,
  getmetatable(protected))
debug.setmetatable(print, { __index = { name = "function field" } }); print(print.name, leaf)
debug.setmetatable(print, nil)
debug.setmetatable(true, { __call = function(self, a) return self, a end })
print((true)(1), (false)(2)); debug.setmetatable(true, nil); print(pcall(debug.setmetatable, 1, 2))
print(pcall(debug.setmetatable, 1)); print(pcall(debug.getmetatable)); debug.setmetatable(1, nil)
print(debug.getuservalue(io.stdout), debug.getuservalue(io.stdout, 1))
print(debug.getuservalue(io.stdout, 2))
print(debug.getuservalue(5), debug.getuservalue({}, 1), debug.getuservalue("x", 0))
print(debug.setuservalue(io.stdout, 1)); print(debug.setuservalue(io.stdout, 1, 2))
print(pcall(debug.setuservalue, {}, 1)); print(pcall(debug.setuservalue, io.stdout))
print(pcall(debug.setuservalue, 5, 1, 1)); print(pcall(debug.getuservalue, io.stdout, "x"))
local registry = debug.getregistry()
print(type(registry), registry[2] == _G, type(registry[1]), registry._LOADED == package.loaded,
  registry._PRELOAD == package.preload, registry["FILE*"] == getmetatable(io.stdout))
print(select("#", debug.getregistry(1)))
for _, m in ipairs({ false, true, print, {} }) do
  print(debug.traceback(m) == m, debug.traceback(m, 5) == m)
end
print(debug.traceback("m", 1000)); print(debug.traceback(nil, 1000))
print(debug.traceback(12, 1000)); print(pcall(debug.traceback, "m", "x"))
print(pcall(debug.traceback, "m", 1.5)); print(debug.traceback(coroutine.create(print), "fresh"))
print(debug.traceback(coroutine.create(print), nil)); local dead = coroutine.create(function() end)
coroutine.resume(dead); print(debug.traceback(dead))
print(debug.traceback(coroutine.running(), "self"):match("^self\nstack traceback:\n") ~= nil)
local function deep(n) if n == 0 then return debug.traceback("deep") end return (deep(n - 1)) end
-- In a coroutine, as below the main chunk there is what the host has called it from.
local text = coroutine.wrap(deep)(30)
print(select(2, text:gsub("\n", "")), text:match("%.%.%.[^\n]*"),
  text:match("^[^\n]*\n[^\n]*\n[^\n]*"))
text = coroutine.wrap(deep)(5); print(select(2, text:gsub("\n", "")), text:find("...\t", 1, true))
local co = coroutine.create(function()
  local function r(n) if n == 0 then coroutine.yield() else r(n - 1) end end r(40)
end)
coroutine.resume(co); text = debug.traceback(co)
print(select(2, text:gsub("\n", "")), text:match("%.%.%.[^\n]*"))
text = debug.traceback(co, "level", 38); print(select(2, text:gsub("\n", "")))
local names = {} for k in pairs(debug) do names[#names + 1] = k end table.sort(names)
print(table.concat(names, " ")); print(debug.debug())
io.stderr:write("\n") -- after the prompt
print(type(debug.setcstacklimit), pcall(debug.setcstacklimit, 1000))
