-- error and its levels (6.1).
-- expect: ok
--| nil
--| nil
--| plain
--| plain
--| level 1
--| error.lua:32: level 2
--| error.lua:35: here
--| error.lua:35: here
--| error.lua:37: caller
--| above
--| far above
--| none
--| negative
--| 12
--| 1.5
--| true
--| true	2	2
--| error.lua:32: x
--| error.lua:32: x
--| false	bad argument #2 to 'error' (number has no integer representation)
--| false	bad argument #2 to 'error' (number expected, got table)
--| false	bad argument #2 to 'error' (number expected, got string)
--| error.lua:47: through sort
--| above sort
--| false	error.lua:50: in a coroutine
--| false	in a coroutine
--| false	chunk:1: in a chunk
--| false	[string "local x = 1..."]:1: in a long chunk

local function try(f, ...) print(select(2, pcall(f, ...))) end
try(error); try(error, nil); try(error, "plain"); try(error, "plain", 0); try(error, "level 1", 1)
try(error, "level 2", 2)
local function raise(...) error(...) end
try(function() raise("here") end); try(function() raise("here", 1) end)
try(function() raise("caller", 2) end)
try(function() raise("above", 3) end); try(function() raise("far above", 100) end)
try(function() raise("none", 0) end); try(function() raise("negative", -1) end)
try(function() raise(12) end); try(function() raise(1.5) end); try(function() raise(true) end)
local object = setmetatable({}, { __tostring = function() return "an object" end })
print(select(2, pcall(error, object)) == object, select("#", pcall(error)),
  select("#", pcall(error, nil, 2)))
try(error, "x", "2"); try(error, "x", 2.0); print(pcall(error, "x", 2.5))
print(pcall(error, "x", {})); print(pcall(error, {}, "x"))
-- A native function in between has no position.
try(function() table.sort({ 1, 2 }, function() raise("through sort", 2) end) end)
try(function() table.sort({ 1, 2 }, function() raise("above sort", 3) end) end)
-- In a coroutine the levels end with it.
print(coroutine.resume(coroutine.create(function() error("in a coroutine", 1) end)))
print(coroutine.resume(coroutine.create(function() error("in a coroutine", 2) end)))
print(pcall(load("error('in a chunk')", "=chunk")))
print(pcall(load("error('in a long chunk')", "local x = 1\nreturn 2")))
