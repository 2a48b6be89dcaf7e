-- The eight basic types as `type` names them (2.1).
-- expect: ok
--| nil	boolean	number	number
--| string	table	function	function
--| thread	userdata
--| false	bad argument #1 to 'type' (value expected)

print(type(nil), type(true), type(1), type(1.5))
print(type("x"), type({}), type(print), type(function() end))
print(type(coroutine.create(print)), type(io.stdout))
print(pcall(type))
