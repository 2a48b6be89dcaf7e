-- pcall and xpcall (6.1).
-- expect: ok
--| called	1
--| true
--| true	2
--| 3
--| false	attempt to call a nil value
--| false	attempt to call a table value
--| false	attempt to call a string value
--| false	bad argument #1 to 'pcall' (value expected)
--| true	false	x
--| false	bad argument #2 to 'xpcall' (function expected, got no value)
--| false	bad argument #2 to 'xpcall' (function expected, got no value)
--| true	called	1	2
--| false	handled message
--| false	handled nil
--| no error	nil
--| true
--| true	2
--| 2
--| 2
--| false	after 5: again
--| false	bad argument #2 to 'xpcall' (function expected, got nil)
--| false	bad argument #2 to 'xpcall' (function expected, got nil)
--| false	bad argument #2 to 'xpcall' (function expected, got number)
--| false	seen
--| false	handled attempt to call a nil value
--| false	handled nil
--| handled pcall-xpcall.lua:64: attempt to perform arithmetic on a nil value
--| in	a	b
--| 1
--| resumed	c
--| false	after the yield
--| 2
--| false	handled: pcall-xpcall.lua:70: attempt to index a nil value (local 't')
--| 3
--| true	d	e
--| end
--| 151	bottom
print(pcall(print, "called", 1)); print(pcall(select, "#", nil, nil))
print(select("#", pcall(function() return nil, nil end)))
print(pcall(nil)); print(pcall({})); print(pcall("f")); print(pcall(pcall))
print(pcall(pcall, error, "x")); print(pcall(xpcall)); print(pcall(xpcall, print))
print(pcall(setmetatable({}, { __call = function(self, ...) return "called", ... end }), 1, 2))
local function handler(...) return "handled " .. tostring((...)), select("#", ...) end
print(xpcall(error, handler, "message")); print(xpcall(error, handler))
print(xpcall(print, handler, "no error", nil))
print(xpcall(function(...) return select("#", ...) end, handler, nil, nil))
-- What the handler returns first is the only message; an error in it goes to it again.
print(select("#", xpcall(error, function() return 1, 2, 3 end)))
print(select("#", xpcall(error, function() end)))
local depth = 0
print(xpcall(error, function(m)
  depth = depth + 1; if depth < 5 then error("again", 0) end
  return "after " .. depth .. ": " .. tostring(m)
end, "first"))
print(pcall(xpcall, error, nil, "m")); print(pcall(xpcall, function() end, nil))
print(pcall(xpcall, error, 5, "m"))
-- The handler runs where the error is.
print(xpcall(function() local inner = "seen"; error("x") end, function()
  return (select(2, debug.getlocal(3, 1)))
end))
print(xpcall(nil, handler)); print(xpcall(error, handler, nil, 2))
print(select(2, xpcall(function() local x = nil + 1 end, handler)))
-- Yields cross both.
local co = coroutine.wrap(function(...)
  print(pcall(function(...)
    print("in", ...); print("resumed", coroutine.yield(1)); error("after the yield", 0)
  end, ...))
  print(xpcall(function() coroutine.yield(2); local t = nil; return t.x end, function(m)
    return "handled: " .. m
  end))
  print(xpcall(coroutine.yield, print, 3))
  return "end"
end)
print(co("a", "b")); print(co("c")); print(co()); print(co("d", "e"))
-- Deep nesting of protected calls.
local function nest(n) if n == 0 then error("bottom", 0) end return pcall(nest, n - 1) end
print(select("#", nest(150)), select(-1, nest(150)))
