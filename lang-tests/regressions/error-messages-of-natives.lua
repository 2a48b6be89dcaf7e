-- Messages of natives: which argument is named, and which have no position (6.1, 6.2, 6.4.2, 6.7).
-- expect: ok
--| attempt to yield from outside a coroutine
--| bad argument #2 to 'fmod' (number expected, got table)
--| bad argument #2 to 'pack' (number expected, got nil)
--| error-messages-of-natives.lua:13: m
local function message(f, ...)
  print((select(2, pcall(f, ...)):gsub('^error%-messages%-of%-natives.lua:%d+: bad', 'bad')))
end
message(coroutine.yield); message(function() return math.fmod({}, {}) end)
message(function() return string.pack('i4', ('').byte('')) end)
-- The level is cut to 32 bits.
message(function() error('m', math.mininteger + 1) end)
