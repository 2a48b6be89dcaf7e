-- An uncaught error in the main chunk is reported with its position (2.3).
-- expect: error
--! uncaught-string.lua:8: something failed
--| before

print("before")
local function fail()
  error("something failed")
end
fail()
print("never")
