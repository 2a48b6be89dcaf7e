-- pcall returns all results of the call, or false and the error (2.3, 6.1).
-- expect: ok
--| true	1	nil	3	nil
--| 5
--| true
--| false	attempt to call a nil value
--| false	attempt to call a number value
--| false	attempt to call a table value
--| false	bad argument #1 to 'pcall' (value expected)
--| true	false	nil
--| true	false	x
--| true	true	false	deep
--| true	called	7
--| true

print(pcall(function(...) return ... end, 1, nil, 3, nil))
print(select("#", pcall(function(...) return ... end, 1, nil, 3, nil)))
print(pcall(function() end))
print(pcall(nil))
print(pcall(42))
print(pcall({}))
print(pcall(pcall))
print(pcall(pcall, error))
print(pcall(pcall, error, "x"))
print(pcall(pcall, pcall, error, "deep"))
print(pcall(setmetatable({}, { __call = function(self, a) return "called", a end }), 7))
print((pcall(function() return 1, 2 end)))
