-- A failed assert raises its message as error does, with a position (2.3, 6.1).
-- expect: error
--! uncaught-assert.lua:7: plain message
--| 1	unused

print(assert(1, "unused"))
assert(false, "plain message")
