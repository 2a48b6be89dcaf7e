-- assert returns its arguments or raises its message (6.1).
-- expect: ok
--| 1	2	nil	4
--| 2
--| false	assertion failed!
--| false	assertion failed!
--| false	message
--| false	42
--| true
--| false	nil
--| false	bad argument #1 to 'assert' (value expected)
--| false	assert.lua:27: assertion failed!
--| false	assert.lua:28: with message
--| false	assert.lua:29: s:1: unexpected symbol near <eof>
--| a string

print(assert(1, 2, nil, 4))
print(select("#", assert(true, nil)))
print(pcall(assert, false))
print(pcall(assert, nil))
print(pcall(assert, false, "message"))
print(pcall(assert, false, 42))
local t = {}
print(select(2, pcall(assert, nil, t)) == t)
print(pcall(assert, false, nil))
print(pcall(assert))
print(pcall(function() assert(false) end))
print(pcall(function() assert(nil, "with message") end))
print(pcall(function() local x = assert(load("x =", "=s")) end))
print((assert("a string", error)))
