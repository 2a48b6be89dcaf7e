-- An uncaught yield outside a coroutine ends the program (2.6).
-- expect: error
--! attempt to yield from outside a coroutine
--| before

print("before")
coroutine.yield()
