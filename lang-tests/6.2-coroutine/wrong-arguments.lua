-- What the coroutine functions say of wrong arguments (6.2).
-- expect: ok
--| coroutine.close #1  wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got no value): none; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got nil): nil; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got boolean): false; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got number): 1.5 -1 1e100; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got string): 'x' '10'; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got table): {}; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got function): print; ok: thread; wrong-arguments.lua:14: bad argument #1 to 'close' (thread expected, got FILE*): file
--| coroutine.close #1  thread expected: none nil false 1.5 -1 1e100 'x' '10' {} print file; ok: thread
--| coroutine.create #1  function expected: none nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print
--| coroutine.isyieldable #1  ok: none thread; thread expected: nil false 1.5 -1 1e100 'x' '10' {} print file
--| coroutine.resume #1  thread expected: none nil false 1.5 -1 1e100 'x' '10' {} print file; ok: thread
--| coroutine.resume #2  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| coroutine.running #1  ok: none nil false 1.5 -1 1e100 'x' '10' {} print thread file
--| coroutine.status #1  thread expected: none nil false 1.5 -1 1e100 'x' '10' {} print file; ok: thread
--| coroutine.wrap #1  function expected: none nil false 1.5 -1 1e100 'x' '10' {} thread file; ok: print

local check = dofile("../modules/arguments.lua")
check("coroutine.close", function(...) return coroutine.close(...) end, coroutine.create(print))
check("coroutine.close", coroutine.close, coroutine.create(print))
check("coroutine.create", coroutine.create, print)
check("coroutine.isyieldable", coroutine.isyieldable, coroutine.create(print))
check("coroutine.resume", coroutine.resume, coroutine.create(type), 1)
check("coroutine.running", coroutine.running, 1)
check("coroutine.status", coroutine.status, coroutine.create(print))
check("coroutine.wrap", coroutine.wrap, print)
