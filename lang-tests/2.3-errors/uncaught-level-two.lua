-- The level of an uncaught error moves the position to the caller (2.3).
-- expect: error
--! uncaught-level-two.lua:11: value expected
--| checked once

local function check(v)
  if not v then error("value expected", 2) end
end
check(1)
print("checked once")
check(nil)
