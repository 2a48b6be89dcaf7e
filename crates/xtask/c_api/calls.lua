-- Measures calls between C code and Lua.
package.cpath = os.getenv "PERILUNE_CALLS" .. "/?.so;" .. package.cpath
local cs = require "calls"
local clock = os.clock
local function time(name, f) local t = clock() f() print(name, clock() - t) end
time("C calls Lua", function() cs.calls(function(x) return x + 1 end, 10000000) end)
time("C pcalls Lua", function() cs.pcalls(function(x) return x + 1 end, 5000000) end)
time("C pcalls C error", function() cs.pcalls(cs.raise, 3000000) end)
time("C pcalls luaL_error", function() cs.pcalls(cs.fail, 1000000) end)
time("Lua pcalls luaL_error", function() for i = 1, 1000000 do pcall(cs.fail) end end)
time("Lua pcalls C error", function() for i = 1, 3000000 do pcall(cs.raise, i) end end)
time("Lua calls C", function() local id, s = cs.id, 0 for i = 1, 30000000 do s = s + id(i) end end)
time("get/setfield", function() cs.fields({ x = 1, y = 2 }, 10000000) end)
time("create tables", function() cs.make(2000000) end)
time("userdata", function() cs.ud(2000000) end)
time("buffer", function() cs.buf(5000000) end)
