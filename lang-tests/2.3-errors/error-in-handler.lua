-- An error inside a message handler calls the handler again (2.3).
-- expect: ok
--| false	gave up after 5: again 4
--| false	string
--| false	false
--| true	false	error in error handling

local n = 0
print(xpcall(error, function(m)
  n = n + 1
  if n < 5 then error("again " .. n, 0) end
  return "gave up after " .. n .. ": " .. tostring(m)
end, "first"))
-- A handler that always fails ends with a status error, not with a hang.
local ok, message = xpcall(error, function(m) error("always") end, "x")
print(ok, type(message))
print(xpcall(error, function(m) return pcall(error, m) end, "inner"))
print(pcall(xpcall, error, error, "v"))
