-- xpcall calls the handler at the point of the error and passes arguments on (2.3, 6.1).
-- expect: ok
--| true	1	2	3
--| false	handled boom
--| false	attempt to call a nil value (local 'x')
--| false	nil
--| false	in local 'f'
--| false	bad argument #2 to 'xpcall' (function expected, got no value)
--| false	bad argument #2 to 'xpcall' (function expected, got no value)
--| false	attempt to call a nil value
--| false	true

print(xpcall(function(...) return ... end, print, 1, 2, 3))
print(xpcall(error, function(m)
  return "handled " .. tostring(m), "second is dropped"
end, "boom", 0))
print(xpcall(function() local x = nil; x() end, function(m) return (m:gsub("^.-:%d+: ", "")) end))
print(xpcall(error, function(m) return type(m) end))
local depth
print(xpcall(function() local function f() error("deep") end f() end, function(m)
  depth = debug.traceback(m, 1):match("in upvalue 'f'")
    or debug.traceback(m, 1):match("in local 'f'")
  return "seen"
end), depth)
print(pcall(xpcall))
print(pcall(xpcall, print))
print(xpcall(nil, function(m) return m end))
print(xpcall(function() error() end, function(m) return m == nil end))
