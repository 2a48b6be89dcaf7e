-- Wrong arguments to the coroutine library (6.2).
-- expect: ok
--| false	bad argument #1 to 'coroutine.create' (function expected, got no value)
--| false	bad argument #1 to 'coroutine.create' (function expected, got table)
--| false	bad argument #1 to 'coroutine.wrap' (function expected, got string)
--| false	bad argument #1 to 'coroutine.resume' (thread expected, got no value)
--| false	bad argument #1 to 'coroutine.resume' (thread expected, got table)
--| false	bad argument #1 to 'coroutine.status' (thread expected, got function)
--| false	bad argument #1 to 'coroutine.close' (thread expected, got no value)
--| false	bad argument #1 to 'coroutine.close' (thread expected, got table)
--| thread	true	9
--| true	false	x
--| true	1	2
--| true	out
--| true	in
--| dead
--| ababab

print(pcall(coroutine.create)); print(pcall(coroutine.create, {}))
print(pcall(coroutine.wrap, "x"))
print(pcall(coroutine.resume)); print(pcall(coroutine.resume, {}))
print(pcall(coroutine.status, print))
print(pcall(coroutine.close)); print(pcall(coroutine.close, {}))
print(type(coroutine.create(print)), coroutine.resume(coroutine.create(math.max), 3, 9, 2))
print(coroutine.resume(coroutine.create(pcall), error, "x"))
print(coroutine.resume(coroutine.create(coroutine.yield), 1, 2))
local co = coroutine.create(coroutine.yield)
print(coroutine.resume(co, "out")); print(coroutine.resume(co, "in")); print(coroutine.status(co))
print(coroutine.wrap(string.rep)("ab", 3))
