-- covers: a native function at the bottom of a coroutine whose result is a variadic function
-- expect: ok
--| 7	8
--| 1	2	3	4
--| 1
--| dead	true

local load = coroutine.create(load)
local _, chunk = coroutine.resume(load, "return 7, ...")
print(chunk(8))

local function variadic(a, b, ...) return a, b, ... end
print(coroutine.wrap(rawget)({ variadic }, 1)(1, 2, 3, 4))

-- a chunk is variadic even if it does not use its arguments
print(coroutine.wrap(assert)(_G.load("return 1"))())
print(coroutine.status(load), coroutine.close(load))
