-- An uncaught run-time error is reported with its position (2.3).
-- expect: error
--! uncaught-runtime.lua:8: attempt to index a nil value (field 'x')
--| nil

local t = {}
print(t.x)
print(t.x.y)
