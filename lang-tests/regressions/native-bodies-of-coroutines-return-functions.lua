-- covers: native functions at the bottom of a coroutine, or near the end of the stack, whose result
-- is a variadic function
-- expect: ok
--| 7	8
--| 1	2	3	4
--| 1
--| dead	true
--| false

local load = coroutine.create(load)
local _, chunk = coroutine.resume(load, "return 7, ...")
print(chunk(8))

local function variadic(a, b, ...) return a, b, ... end
print(coroutine.wrap(rawget)({ variadic }, 1)(1, 2, 3, 4))

-- a chunk is variadic even if it does not use its arguments
print(coroutine.wrap(assert)(_G.load("return 1"))())
print(coroutine.status(load), coroutine.close(load))

-- the host calls the native function at various distances from the end of the stack
local mt = { __index = getmetatable, __metatable = variadic }
local object = setmetatable({}, mt)
local function descend(n)
  local a, b, c = table.unpack(object, 1, 3)
  assert(a == variadic and b == variadic and c == variadic)
  return n > 0 and descend(n - 1)
end
print(coroutine.wrap(descend)(150))
